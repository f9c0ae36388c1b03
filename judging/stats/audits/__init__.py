"""Probes of a judge: each asks one question of columns of numbers and answers with effect, interval and test.

The null hypothesis of all of them: the judge errs as one more person would. People's column is therefore the label of
one person per item (drawn at random where there are several), not their mean, which varies less than any rater does.
"""
