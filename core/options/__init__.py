"""What a verb takes, declared once: a pydantic model, from which form, REST body, command and service are served."""
