import { useState } from 'react'
import { actionContext } from '../../actions/action.ts'
import { actionsFor, shortcutSections } from '../../actions/index.ts'
import { m } from '../../messages.gen.ts'
import { ScrollRegion } from '../../ui/composite.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import styles from './shortcut-sheet.module.css'

interface Section {
  title: string
  lines: { keys: string[]; label: string }[]
}

/** Keyboard shortcuts of the open screen, by section. */
export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const [sections] = useState(readSections)
  return (
    <Dialog title={m.shell_keyboard_shortcuts()} size="large" onClose={onClose}>
      <ScrollRegion className={styles.sheet} tabIndex={0} data-autofocus>
        {sections.map((section) => (
          <section key={section.title} className={styles.section}>
            <h3>{section.title}</h3>
            <dl>
              {section.lines.map((line) => (
                <div key={line.label} className={styles.line}>
                  <dt>{line.label}</dt>
                  <dd>
                    {line.keys.map((keys) => (
                      <kbd key={keys}>{keys}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </ScrollRegion>
    </Dialog>
  )
}

function readSections(): Section[] {
  const ofScreens = shortcutSections().map(({ title, lines }): Section => {
    return { title: title(), lines: lines.map(({ keys, label }) => ({ keys, label: label() })) }
  })
  const told = new Set(ofScreens.map(({ title }) => title))
  const byGroup = new Map<string, Section>()
  for (const action of actionsFor(actionContext())) {
    if (!action.shortcut) continue
    const title = action.group()
    // The screen's own section lists these shortcuts already.
    if (told.has(title)) continue
    const section = byGroup.get(title) ?? { title, lines: [] }
    section.lines.push({ keys: [shortcutLabel(action.shortcut)], label: action.label() })
    byGroup.set(title, section)
  }
  const tree: Section = {
    title: m.shell_sidebar(),
    lines: [
      { keys: ['↑', '↓'], label: m.shell_move_between_tables_and_views() },
      { keys: ['→', '←'], label: m.shell_show_hide_views_table() },
      { keys: ['F2'], label: m.common_rename() },
      { keys: ['Shift+F10'], label: m.shell_menu_table_view() },
    ],
  }
  return [...byGroup.values(), ...ofScreens, tree]
}
