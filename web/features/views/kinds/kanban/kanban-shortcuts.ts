import type { ShortcutSection } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'

/** The keys of a board, for the shortcut sheet. They are read by `use-board-keys.ts`. */
export const KANBAN_SHORTCUTS: ShortcutSection = {
  title: () => t('Kanban'),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => t('From card to card, from stack to stack') },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => t('Move the card') },
    { keys: ['Home', 'End'], label: () => t('First and last card of the stack') },
    { keys: ['Enter', t('Space')], label: () => t('Open the record') },
    { keys: [shortcutLabel('mod+Space')], label: () => t('Choose the record') },
    { keys: [shortcutLabel('mod+a')], label: () => t('Choose all cards of the stack') },
    { keys: ['Del'], label: () => t('Delete the record') },
    { keys: ['Shift+F10'], label: () => t('Menu of the card or stack') },
  ],
}
