import type { ShortcutSection } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'

/** The keys of a gallery, for the shortcut sheet. They are read by `use-gallery-focus.ts`. */
export const GALLERY_SHORTCUTS: ShortcutSection = {
  title: () => t('Gallery'),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => t('Move; hold Shift to extend the selection') },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => t('Move record') },
    { keys: ['Home', 'End'], label: () => t('First and last record') },
    { keys: ['PageUp', 'PageDown'], label: () => t('Page up or down') },
    { keys: ['Enter', t('Space')], label: () => t('Open record') },
    { keys: [shortcutLabel('mod+Space')], label: () => t('Select record') },
    { keys: [shortcutLabel('mod+a')], label: () => t('Select all') },
    { keys: ['Del'], label: () => t('Delete record') },
  ],
}
