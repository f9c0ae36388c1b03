"""What the sign-in page says of accounts: `{% first_account_needed as needed %}`."""

from django.template import Library

from core.accounts.services import first_account

register = Library()
register.simple_tag(first_account.is_needed, name="first_account_needed")
