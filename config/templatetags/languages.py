"""Where the scripts' texts are: `{% script_texts_address language %}`."""

from urllib.parse import urlencode

from django.conf import settings
from django.template import Library
from django.urls import reverse

register = Library()


@register.simple_tag
def script_texts_address(language: str) -> str:
    """The address of the texts of scripts in a language, which is another one after each change of them."""
    return f"{reverse('script_texts')}?{urlencode({'language': language, 'version': settings.LOCALE_PATHS[0].name})}"
