"""What the verbs take and hand back."""
