"""The methods of the client, by what they are about."""
