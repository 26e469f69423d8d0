"""Undolab: does the world end up exactly right when the outcome of a tool call is lost?"""
