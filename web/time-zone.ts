/** The person's own zone: "today" in a filter and times without one are meant in it. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
