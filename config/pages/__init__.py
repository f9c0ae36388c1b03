"""Pages of the site itself: home, the gallery of components, health."""
