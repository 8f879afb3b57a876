"""Codes for missing values: texts that mean that a value is missing, refused or suppressed.

Texts are compared case-insensitively, without surrounding blanks and one pair of brackets or quotes. The
words come from code books of surveys and registers, and from R, pandas, SAS, SPSS, Stata, databases and
anonymization tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from discreet.model.cell_format import BLANKS, is_star

_BY_LANGUAGE = {
    "programs": "na|n/a|#n/a|n.a|n.a.|nan|null|none|nil|n/d|n.d.|\\n|<na>|#nv|#null!|void|undefined",
    "punctuation": "?|??|???|-|--|---|.|..|...|–|—|_|__|/|//|#|##|xx|xxx|xxxx",
    "suppressed": "suppressed|redacted|masked|hidden|withheld|removed|deleted|censored"
    "|confidential|data suppressed|not shown|not displayed|any",
    "English": "unknown|unk|unkn|ukn|unknwn|not known|missing|missing value|blank|empty|no data|nodata"
    "|no value|no answer|no response|no information|no info|not available|not applicable|not stated"
    "|not specified|not recorded|not reported|not given|not provided|not disclosed|not asked|not answered"
    "|not collected|not determined|not obtained|not ascertained|not entered|not documented|not done"
    "|not classified|not elsewhere classified|undisclosed|undetermined|unspecified|unreported|unrecorded"
    "|unstated|unascertained|refused|refusal|refuse to answer|refused to answer|declined|declined to answer"
    "|declined to state|prefer not to say|prefer not to answer|prefer not to disclose|rather not say"
    "|don't know|dont know|do not know|don’t know|dk/na|dk/nr|dk/ref|can't say|cannot say|tbd|tba"
    "|to be determined|not yet known|unavailable|no entry|unanswered|skipped|not in universe|inapplicable"
    "|indeterminate",
    "German": "unbekannt|unbek.|unbek|nicht bekannt|keine angabe|keine angaben|k. a.|k.a.|k.a|o. a.|o.a."
    "|ohne angabe|nicht verfügbar|nicht vorhanden|nicht erhoben|nicht erfasst|nicht angegeben"
    "|nicht zutreffend|trifft nicht zu|entfällt|fehlt|fehlend|fehlender wert|verweigert|antwort verweigert"
    "|weiß nicht|weiss nicht|gelöscht|geschwärzt|unterdrückt|anonymisiert|geheim|vertraulich|leer|n.b.|n. b."
    "|keine antwort|nicht beantwortet|nicht dokumentiert|ungeklärt|unklar|kein wert|keine daten",
    "French": "inconnu|inconnue|non connu|non renseigné|non renseignée|non précisé|non précisée"
    "|non communiqué|non déclaré|non disponible|non applicable|sans objet|sans réponse|pas de réponse"
    "|ne sait pas|nsp|refus|refusé|manquant|manquante|donnée manquante|valeur manquante|supprimé|masqué"
    "|confidentiel|vide|indéterminé|non spécifié",
    "Spanish": "desconocido|desconocida|no conocido|se desconoce|no sabe|no contesta|no responde|ns/nc"
    "|sin dato|sin datos|s/d|sin información|sin especificar|no disponible|no aplica|no especificado"
    "|no especificada|no consta|no informado|faltante|perdido|ignorado|se ignora|vacío|rehúsa|suprimido"
    "|confidencial|reservado",
    "Portuguese": "desconhecido|desconhecida|ignorada|sem informação|sem dados|sem resposta|não informado"
    "|não informada|não sabe|não se aplica|não disponível|não declarado|não especificado|em branco|ausente"
    "|recusa|omisso|sigiloso",
    "Italian": "sconosciuto|sconosciuta|ignoto|non noto|non nota|non disponibile|non specificato"
    "|non indicato|non dichiarato|non rilevato|non risponde|non sa|mancante|dato mancante|rifiuta"
    "|non applicabile|riservato|oscurato",
    "Dutch": "onbekend|niet bekend|niet beschikbaar|niet van toepassing|n.v.t.|nvt|niet opgegeven"
    "|niet ingevuld|geen antwoord|geen opgave|weigert|geweigerd|ontbreekt|ontbrekend|weet niet|leeg"
    "|vertrouwelijk",
    "Nordic": "okänd|okänt|ej känt|uppgift saknas|saknas|vet ej|vet inte|ej svar|ej angivet|vägrar|ukendt"
    "|uoplyst|ikke oplyst|ved ikke|mangler|intet svar|ukjent|ikke oppgitt|uoppgitt|vet ikke|ei tietoa"
    "|tuntematon|puuttuu|ei vastausta|óþekkt",
    "Slavic": "nieznane|nieznany|nieznana|nie wiadomo|brak|brak danych|brak odpowiedzi|nie dotyczy|nie podano"
    "|odmowa|nie wiem|neznámý|neznámé|neznámá|neuvedeno|nezjištěno|není známo|chybí|odmítl|neznámy"
    "|neuvedené|nepoznato|nepoznat|nema podataka|neznano|ni podatka|неизвестно|неизвестен|неизвестна"
    "|нет данных|не указано|не указан|не указана|нет ответа|отсутствует|пропущено|отказ|н/д|не знаю|скрыто"
    "|удалено|невідомо|невідомий|немає даних|не вказано|неизвестно|няма данни|непознато|нема податак",
    "Greek, Turkish, Hungarian, Romanian, Baltic": "άγνωστο|άγνωστος|άγνωστη|δεν γνωρίζω|δεν απαντώ"
    "|μη διαθέσιμο|χωρίς απάντηση|bilinmiyor|bilinmeyen|belirtilmemiş|cevap yok|veri yok|boş|ismeretlen"
    "|nincs adat|nem ismert|hiányzik|nem válaszolt|necunoscut|necunoscută|lipsă|nespecificat|nu știe"
    "|nežinoma|nenurodyta|nezināms|teadmata",
    "Chinese, Japanese, Korean": "未知|不详|不詳|不明|缺失|缺失值|无|無|无数据|無資料|未填|未填写"
    "|未提供|未报告|拒绝回答|拒答|不知道|保密|不适用|未記入|無回答|未回答|該当なし|欠損|欠損値|わからない|不詳|非公開|未入力|回答なし"
    "|미상|모름|무응답|해당없음|해당 없음|없음|결측|비공개|알 수 없음|미기재",
    "Arabic, Persian, Hebrew, Hindi, Thai, Vietnamese, Indonesian": "غير معروف|مجهول|غير محدد|لا يوجد|مفقود"
    "|رفض|لا أعرف|نامشخص|نامعلوم|ندارد|לא ידוע|חסר|לא צוין|סירב|अज्ञात|ज्ञात नहीं|उपलब्ध नहीं|ไม่ทราบ|ไม่ระบุ|ไม่มีข้อมูล"
    "|không rõ|không biết|không có|tidak diketahui|tidak tahu|tidak ada|kosong",
}

MARK_WORDS = frozenset(word for words in _BY_LANGUAGE.values() for word in words.split("|"))
MARK_WORDS |= {f"anonymi{letter}ed" for letter in "sz"}
"""Texts that mean a missing value, in lower case."""

_AMBIGUOUS_CODES = frozenset(("dk", "nr", "ns", "nc", "nd", "ka", "nat"))
"""Texts that are also names of states and countries: marks only in sensitive columns."""

_WRAPS = frozenset(("()", "[]", "<>", "{}", '""', "''", "**"))
MARK_OPENINGS = "([<{\"'*"
"""First characters of a text in brackets or quotes."""

MARK_NUMBERS = tuple(
    f"{sign}{digit * times}{end}"
    for times in range(1, 6)
    for sign, digits in (("", "6789" if times > 1 else ""), ("-", "126789"))
    for digit in digits
    for end in ("", ".0")
)
"""Numbers by which statistics programs encode missing values: 99, 999, -9, …"""


def is_mark(text: str, *, sensitive: bool) -> bool:
    """Return whether a text means that a value is missing.

    >>> is_mark(" (Unknown)", sensitive=False), is_mark("NC", sensitive=False), is_mark("flu", sensitive=True)
    (True, False, False)
    """
    plain = text.strip(BLANKS).casefold()
    if len(plain) > 2 and plain[0] + plain[-1] in _WRAPS:
        plain = plain[1:-1].strip(BLANKS)
    return plain in _FOLDED or (sensitive and plain in _AMBIGUOUS_CODES)


_FOLDED = frozenset(word.casefold() for word in MARK_WORDS)

MARK_SPELLINGS = tuple(
    sorted(
        {
            *MARK_WORDS,
            *_AMBIGUOUS_CODES,
            *(f(w) for w in MARK_WORDS if not w.isascii() for f in (str.upper, str.capitalize)),
        }
    )
)
"""Words in lower case, and non-ASCII words also in upper case and capitalized.

A database may not convert the case of their letters.
"""


@dataclass(frozen=True)
class RemainingCells:
    """Cells of a column that are not in ``MARK_NUMBERS``: counts of numbers and of others, and the range."""

    numbers: int
    others: int
    least: float = 0.0
    most: float = 0.0

    @classmethod
    def of(cls, texts: Sequence[str]) -> RemainingCells:
        """Describe the texts of a column, without those in ``MARK_NUMBERS``."""
        numbers = [
            number for text in texts if text not in _CODES and (number := _parse_finite(text)) is not None
        ]
        others = sum(text not in _CODES for text in texts) - len(numbers)
        return cls(len(numbers), others, min(numbers, default=0.0), max(numbers, default=0.0))

    def is_outlier(self, number: float) -> bool:
        """Return whether a number is so far from the others that it may be a code for a missing value."""
        if not self.numbers:
            return self.others > 0
        if number < 0 <= self.least:
            return True
        return max(self.least - number, number - self.most) > self.most - self.least


@dataclass(frozen=True)
class MissingMark:
    """A text of a column that may mean a missing value, and its rows; a star if ``starred``."""

    text: str
    rows: int
    starred: bool


def detect_marks(
    texts: Sequence[str], rows: Sequence[int], *, sensitive: bool, others: RemainingCells | None = None
) -> tuple[MissingMark, ...]:
    """Find the marks among the texts of a column, the most frequent first.

    ``rows`` are those of each text. A number is a mark if it is an outlier relative to ``others``, by default
    those of ``texts``. In a quasi-identifier a number is a mark only if all other cells are words, because
    ``profile.data_warnings`` reports outliers among numbers separately.
    """
    if others is None and not _CODES.isdisjoint(texts):
        others = RemainingCells.of(texts)
    found = []
    for text, number in zip(texts, rows, strict=True):
        starred = is_star(text)
        if text in _CODES:
            reported_elsewhere = others is None or (others.numbers > 0 and not sensitive)
            marked = others is not None and not reported_elsewhere and others.is_outlier(float(text))
        else:
            marked = starred or (not text[:1].isdigit() and is_mark(text, sensitive=sensitive))
        if marked:
            found.append(MissingMark(text, int(number), starred))
    return tuple(sorted(found, key=lambda mark: (-mark.rows, mark.text)))


_CODES = frozenset(MARK_NUMBERS)


def _parse_finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
