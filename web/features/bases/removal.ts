import { t, tn } from '../../i18n.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Says when something in the trash is removed for good.
 *
 * @param keepsDays days that it stays there; 0: until someone deletes it
 */
export function removalText(deletedAt: string, keepsDays: number): string {
  if (keepsDays === 0) return t('Kept until you delete it')
  const days = Math.ceil((Date.parse(deletedAt) + keepsDays * DAY_MS - Date.now()) / DAY_MS)
  return days <= 1 ? t('Removed within a day') : tn('Removed in 1 day', 'Removed in {n} days', days)
}
