/** The first or last moment of a day of the user (`YYYY-MM-DD`), in ISO 8601; undefined if it is not a day. */
export function momentOf(day: string | undefined, edge: 'start' | 'end'): string | undefined {
  const date = day === undefined ? null : new Date(`${day}T${edge === 'start' ? '00:00:00' : '23:59:59.999'}`)
  return date === null || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
