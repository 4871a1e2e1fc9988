import type { ShortcutSection } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'

/** The keys of a calendar, for the shortcut sheet. They are read by `use-walk.ts` and `use-calendar-actions.ts`. */
export const CALENDAR_SHORTCUTS: ShortcutSection = {
  title: () => t('Calendar'),
  lines: [
    { keys: ['D', 'W', 'M', 'Y'], label: () => t('Day, week, month, year') },
    { keys: ['T'], label: () => t('Today') },
    { keys: ['↑', '↓', '←', '→'], label: () => t('Move between days and records') },
    { keys: ['Home', 'End'], label: () => t('Start and end of the week') },
    { keys: ['PageUp', 'PageDown'], label: () => t('Earlier and later') },
    { keys: ['Enter'], label: () => t('Open record or add one to the day') },
    {
      keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`],
      label: () => t('Move record by days, weeks or 15 minutes'),
    },
    { keys: [`${shortcutLabel('mod+shift')} + ↑ ↓ ← →`], label: () => t('Change its end') },
    { keys: ['Del'], label: () => t('Delete record') },
  ],
}
