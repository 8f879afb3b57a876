"""Full-domain searches: Samarati, bottom-up, Incognito, optimal, anytime."""
