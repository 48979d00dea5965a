"""Tests of the components, with Pulumi's mocks in preview and in update mode."""
