"""One page from any results: ``results`` reads them, ``page`` puts it together."""
