import type { ShortcutSection } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'

/** The keys of a board, for the shortcut sheet. They are read by `use-board-keys.ts`. */
export const KANBAN_SHORTCUTS: ShortcutSection = {
  title: () => t('Kanban'),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => t('Move between cards and stacks') },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => t('Move card') },
    { keys: ['Home', 'End'], label: () => t('First and last card in the stack') },
    { keys: ['Enter', t('Space')], label: () => t('Open record') },
    { keys: [shortcutLabel('mod+Space')], label: () => t('Select record') },
    { keys: [shortcutLabel('mod+a')], label: () => t('Select all cards in the stack') },
    { keys: ['Del'], label: () => t('Delete record') },
    { keys: ['Shift+F10'], label: () => t('Card or stack menu') },
  ],
}
