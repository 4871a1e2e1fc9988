import { useState } from 'react'
import { actionContext } from '../../actions/action.ts'
import { actionsFor, shortcutSections } from '../../actions/index.ts'
import { t } from '../../i18n.ts'
import { ScrollRegion } from '../../ui/composite.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import styles from './shortcut-sheet.module.css'

interface Section {
  title: string
  lines: { keys: string[]; label: string }[]
}

/** All keys that do something here, by subject. */
export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const [sections] = useState(readSections)
  return (
    <Dialog title={t('Keyboard shortcuts')} size="large" onClose={onClose}>
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
    // A screen's own section names the keys of its actions too.
    if (told.has(title)) continue
    const section = byGroup.get(title) ?? { title, lines: [] }
    section.lines.push({ keys: [shortcutLabel(action.shortcut)], label: action.label() })
    byGroup.set(title, section)
  }
  const tree: Section = {
    title: t('Sidebar'),
    lines: [
      { keys: ['↑', '↓'], label: t('Move between tables and views') },
      { keys: ['→', '←'], label: t('Show or hide the views of a table') },
      { keys: ['F2'], label: t('Rename') },
      { keys: ['Shift+F10'], label: t('Menu of the table or view') },
    ],
  }
  return [...byGroup.values(), ...ofScreens, tree]
}
