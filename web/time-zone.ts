/** The user's time zone, for "today" in filters and for times without a zone. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
