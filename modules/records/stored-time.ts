/**
 * A moment in the form that records keep and REST clients see: `2026-11-20 09:01:05+00:00`.
 * Milliseconds stand before the offset only where there are any; so the texts sort as the moments do.
 */
export function toStoredTime(moment: Date): string {
  const iso = moment.toISOString()
  const milliseconds = iso.slice(19, 23)
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${milliseconds === '.000' ? '' : milliseconds}+00:00`
}
