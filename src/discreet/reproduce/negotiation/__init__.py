"""The negotiation paper (000) again: validity study, requests, l-diversity, an IPUMS-shaped table, times."""
