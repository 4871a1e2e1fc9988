// Links to what is shared, with the app's own address: forms have a light page of their own, and so has all else.
// This runs ahead of the app, which such a visitor then never loads.
if (/^#\/[^/]+\/form\/[^/]/.test(location.hash)) location.replace(`/form${location.search}${location.hash}`)
else if (/^#\/([^/]+\/(view|gallery|kanban|map|calendar|grid|base)|ERD\/shared)\/[^/]/.test(location.hash))
  location.replace(`/shared${location.hash}`)
