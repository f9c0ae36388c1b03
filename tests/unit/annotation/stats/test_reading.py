"""The least time in which a text can be read."""

from __future__ import annotations

import pytest

from annotation.stats.reading import detect_latin, shortest_times

TEXTS = {
    "English": "The user asked for a hotel that is quiet, and the assistant found one in the old town for them.",
    "German": "Der Nutzer sucht ein ruhiges Hotel, und die Assistentin findet eines, das nicht zu teuer ist.",
    "French": "Le voyageur cherche un hôtel calme dans la vieille ville, et il ne veut pas payer plus cher.",
    "Spanish": "El usuario busca un hotel en el centro de la ciudad y no quiere pagar más.",
    "Dutch": "De gebruiker zoekt een rustig hotel in het centrum van de stad en wil niet meer betalen dan vorig jaar.",
    "Turkish": "Kullanıcı bu şehirde sessiz bir otel arıyor ve daha çok ödemek istemiyor ama bir oda için.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_latin_text_is_told_by_its_most_frequent_words(language: str) -> None:
    assert detect_latin(TEXTS[language]) == language


def test_a_thousand_words_of_english_take_a_minute_at_least() -> None:
    (seconds,) = shortest_times(["the and of to is " * 200])
    assert seconds == pytest.approx(60)


def test_other_languages_take_longer_in_proportion_to_their_rates() -> None:
    german, arabic = shortest_times(["der und das " * 100, "كتاب مكتبة طالب " * 100])
    assert german == pytest.approx(0.3 * 60 * 228 / 179)
    assert arabic == pytest.approx(0.3 * 60 * 228 / 138)


def test_chinese_and_japanese_are_counted_by_characters() -> None:
    chinese, japanese = shortest_times(["我想订一个安静的房间。" * 10, "しずかなへやをください。" * 10])
    assert chinese == pytest.approx(60 * 100 / (1000 * 255 / 228))
    assert japanese == pytest.approx(60 * 110 / (1000 * 357 / 228))


def test_nothing_to_read_and_an_unknown_language() -> None:
    assert shortest_times(["", "🙂 …", "zzz qqq"]).tolist() == pytest.approx([0, 0, 2 * 0.06])
    assert shortest_times([]).tolist() == []
