import type { ShortcutSection } from '../../../../actions/index.ts'
import { t } from '../../../../i18n.ts'

/** The keys of a map, for the shortcut sheet. The map library reads them. */
export const MAP_SHORTCUTS: ShortcutSection = {
  title: () => t('Map'),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => t('Move the map') },
    { keys: ['+', '-'], label: () => t('Zoom in and out') },
  ],
}
