"""Made-up content for the gallery: every component in every state, and nothing that is true."""

from __future__ import annotations

from django import forms
from django.core.paginator import Paginator

NAN = float("nan")


class SpecimenForm(forms.Form):
    name = forms.CharField(help_text="Unique among studies. Annotators see it.", max_length=12)
    overlap = forms.IntegerField(min_value=1, max_value=9, help_text="How many people rate each item.")
    kind = forms.ChoiceField(choices=[("dialogue", "dialogues"), ("pair", "response pairs")])
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    file = forms.FileField(required=False, help_text="CSV, up to 100 MB.")
    method = forms.ChoiceField(
        choices=[("all", "all items"), ("simple", "a simple random sample"), ("stratified", "a stratified sample")],
        widget=forms.RadioSelect,
    )
    shown = forms.MultipleChoiceField(
        choices=[("goal", "goal"), ("situation", "situation"), ("preferences", "preferences")],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="What annotators see of the context.",
    )
    both = forms.BooleanField(required=False, label="Ask in both orders", help_text="Costs twice as much.")
    locked = forms.CharField(disabled=True, initial="cannot be changed here", required=False)


def bad_form() -> SpecimenForm:
    """The form as it comes back after a mistake."""
    sent = {"name": "a name that is too long", "overlap": "12", "kind": "pair", "method": ""}
    form = SpecimenForm({f"bad-{key}": value for key, value in sent.items()}, prefix="bad")
    form.is_valid()
    form.add_error(None, "An overlap of 12 needs 12 annotators; 3 are invited.")
    return form


def step(label: str, count: str, state: str, action: str = "", *, current: bool = False) -> dict[str, object]:
    href = "" if state == "todo" else "#study-line"
    return {
        "label": label,
        "count": count,
        "state": state,
        "href": href,
        "current": current,
        "action": action,
        "action_href": "#study-line",
    }


STEPS = [
    step("Dataset", "3,962", "done"),
    step("Sample", "100", "done"),
    step("People", "3 × 300 · 87 %", "active", "Invite people", current=True),
    step("Judges", "2 · 1 running", "running", "Watch the run"),
    step("Agreement", "not computed", "active", "Compute"),
    step("Tiers", "needs agreement", "todo"),
    step("Calibration", "failed at item 41", "error", "See why"),
    step("Report", "needs tiers", "todo"),
]

KNOWN = [
    {"criterion": "Task completed", "right": True, "expected": "yes", "said": "yes", "explanation": ""},
    {
        "criterion": "Naturalness, turn 4",
        "right": False,
        "expected": "mostly natural or natural",
        "said": "artificial",
        "explanation": "Short, and still what a person would say.",
    },
]

TURNS = [
    {"number": 1, "role": "user", "content": "Hi! I need a table for two tonight. Somewhere I'd actually like."},
    {
        "number": 2,
        "role": "assistant",
        "content": "Of course. You usually go for Thai and prefer quiet places, so here are two:\n\n"
        "1. Bangkok Garden, 0.8 km, a table at 19:30\n2. Plah, 1.2 km, a table at 20:15\n\n"
        "Both have good vegetarian dishes. Shall I book one of them?",
    },
    {
        "number": 3,
        "role": "user",
        "content": "The second. Remind me of it: https://example.org/" + "very-long-" * 9,
    },
    {"number": 4, "role": "assistant", "content": "Plah at 20:15, for two. I will remind you at 19:30."},
    {"number": 5, "role": "user", "content": "谢谢！我不吃辣的东西，请告诉餐厅。"},
    {"number": 6, "role": "user", "content": "وأيضًا طاولة بجانب النافذة من فضلك."},
]

RESPONSES = {
    "two": {"A": TURNS[0]["content"], "B": "Anything you like!"},
    "three": {"A": "Chosen.", "B": "Not chosen.", "C": "Not chosen either."},
}

SCALE = ("Not at all", "A little", "Mostly", "Completely")
GUIDES = (
    "Nothing in the dialogue refers to this user's preferences.",
    "One preference is used, or one is used wrongly.",
    "Most preferences that matter for the task are used.",
    "Every preference that matters is used, without being forced.",
)
CRITERIA: list[dict[str, object]] = [
    {
        "criterion": {
            "key": "task",
            "name": "Task completed",
            "question": "Did the assistant do what the user wanted?",
            "guideline": "Compare with the goal.\nA promise counts only if the assistant could keep it.",
            "categories": [{"value": "yes", "label": "yes", "key": "y"}, {"value": "no", "label": "no", "key": "n"}],
        },
        "value": "yes",
    },
    {
        "criterion": {
            "key": "personalization",
            "name": "Personalization",
            "question": "How well does the assistant use what it knows of the user?",
            "guideline": "Only preferences that matter for this task count.",
            "categories": [
                {"value": str(n), "label": label, "guideline": guide}
                for n, (label, guide) in enumerate(zip(SCALE, GUIDES, strict=True), start=1)
            ],
        },
        "value": "3",
        "active": True,
    },
    {
        "criterion": {
            "key": "natural",
            "name": "Natural · user",
            "question": "Do the user's turns sound like a person?",
            "categories": [{"value": str(n), "label": n} for n in range(1, 6)],
        },
        "error": "Not answered yet.",
    },
]

ESTIMATES = [
    ("Task completed", {"value": 0.847, "low": 0.781, "high": 0.902, "reason": None}, 300, "people"),
    ("Personalization", {"value": 0.512, "low": 0.398, "high": 0.611, "reason": None}, 297, "people"),
    ("Natural · user", {"value": -0.041, "low": -0.192, "high": 0.118, "reason": None}, 300, "judge"),
    ("Gold accuracy", {"value": 0.93, "low": NAN, "high": NAN, "reason": "one repeat only"}, 28, "gold"),
    (
        "Coherent · user",
        {"value": NAN, "low": None, "high": None, "reason": "one category was used"},
        300,
        "judge",
    ),
]


NEWS = {
    "name": "Personalization",
    "reason": "Many asked what counts as a known preference.",
    "parts": [
        (
            "Guideline",
            [
                ("same", "Look at what the assistant "),
                ("gone", "says"),
                ("new", "brings up by itself"),
                ("same", "."),
            ],
        ),
    ],
}


def context() -> dict[str, object]:
    return {
        "form": SpecimenForm(initial={"overlap": 3, "method": "stratified"}),
        "bad_form": bad_form(),
        "steps": STEPS,
        "turns": TURNS,
        "responses": RESPONSES,
        "evidence": [4],
        "rows": CRITERIA,
        "estimates": ESTIMATES,
        "downloads": [("CSV", "#tables"), ("JSON", "#tables")],
        "page": Paginator(range(3962), 50).page(2),
        "facts": [
            ("Model", "smollm2-135m-instruct, local"),
            ("Seed", 20260611),
            ("Input", "9f2c 11d0 4be7"),
            ("Temperature", None),
        ],
        "tiers": ["easy", "medium", "hard", "contested", ""],
        "colours": [
            "paper",
            "surface",
            "sunken",
            "ink",
            "ink-2",
            "line-strong",
            "accent",
            "gold",
            "error",
            "easy",
            "medium",
            "hard",
            "contested",
        ],
        "searches": [("Thai", "2 found"), ("opera", "Nothing found")],
        "news": [NEWS],
        "marked": KNOWN,
        "parts": [
            ("tokens", "Tokens"),
            ("type", "Type"),
            ("buttons", "Buttons"),
            ("forms", "Forms"),
            ("messages", "Messages"),
            ("badges", "Badges and tiers"),
            ("progress", "Progress"),
            ("study-line", "The study line"),
            ("tables", "Tables"),
            ("estimates", "Estimates"),
            ("marks", "Marks and plots"),
            ("empty", "Empty"),
            ("dialogue", "Dialogue"),
            ("pair", "Pair"),
            ("context", "Context"),
            ("rating", "Rating"),
            ("turns", "Rating turns"),
            ("changes", "What changed in a text"),
            ("known", "Known answers"),
            ("annotate", "Annotate layout"),
            ("pagination", "Pagination"),
            ("facts", "Facts"),
            ("errors", "Error pages"),
        ],
    }
