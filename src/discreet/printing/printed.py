"""Results that print as aligned text in a terminal and as small tables in a notebook."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod

from discreet.printing.document import Document
from discreet.printing.notebook import notebook_html
from discreet.printing.plain_text import DEFAULT_WIDTH, plain_text


class Printed(ABC):
    """A result with a document."""

    @abstractmethod
    def document(self) -> Document:
        """What the result says."""

    def __str__(self) -> str:
        return plain_text(self.document(), shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return notebook_html(self.document())
