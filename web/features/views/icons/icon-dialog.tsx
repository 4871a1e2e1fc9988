import { Search } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { Alert } from '../../../ui/alert.tsx'
import { Button } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/field.tsx'
import { matches } from '../../../ui/matches.ts'
import { Dialog } from '../../../ui/overlays.ts'
import styles from './icon-dialog.module.css'
import { ICON_GROUPS } from './icon-set.ts'

export interface IconDialogProps {
  /** Dialog title, which names the icon's owner. */
  title: string
  current: string | null
  /** Saves; null removes the icon. The dialog shows its error. */
  onChoose: (icon: string | null) => Promise<void>
  onClose: () => void
}

/** Chooses an emoji or a symbol for a table or view. */
export function IconDialog({ title, current, onChoose, onClose }: IconDialogProps) {
  const [search, setSearch] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const groups = ICON_GROUPS.map((group) => ({
    title: group.title(),
    icons: group.icons.filter(({ text, words }) => text === search.trim() || matches(words, search)),
  })).filter(({ icons }) => icons.length > 0)
  const [first] = groups.flatMap(({ icons }) => icons)

  async function choose(icon: string | null) {
    try {
      await onChoose(icon)
      onClose()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }

  /** The icons are one tab stop; arrow keys move between them. */
  function onKeyDown(event: KeyboardEvent<HTMLDivElement>) {
    const all = [...event.currentTarget.querySelectorAll('button')]
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    const next = at === -1 ? undefined : iconBeside(all, at, event.key)
    if (!next) return
    event.preventDefault()
    next.focus()
  }

  return (
    <Dialog
      title={m.views_icon_of_title({ title })}
      onClose={onClose}
      onSubmit={() => search.trim() !== '' && first && void choose(first.text)}
      footer={
        <>
          {current !== null && <Button onClick={() => void choose(null)}>{m.views_remove_the_icon()}</Button>}
          <Button onClick={onClose}>{m.common_cancel()}</Button>
        </>
      }
    >
      <TextField
        label={m.views_find_an_icon()}
        type="search"
        data-autofocus
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        after={<Search size={15} className={styles.lens} aria-hidden />}
      />
      {problem && <Alert tone="error">{problem}</Alert>}
      <div role="toolbar" aria-label={m.views_icons()} className={styles.groups} onKeyDown={onKeyDown}>
        {groups.map((group) => (
          <section key={group.title} aria-label={group.title}>
            <h3 className={styles.title}>{group.title}</h3>
            <div className={styles.icons}>
              {group.icons.map(({ text, words }) => (
                <button
                  key={text}
                  type="button"
                  className={styles.icon}
                  aria-pressed={text === current}
                  aria-label={words}
                  data-tip={words}
                  tabIndex={text === (current ?? first?.text) || text === first?.text ? 0 : -1}
                  onClick={() => void choose(text)}
                >
                  {text}
                </button>
              ))}
            </div>
          </section>
        ))}
        {groups.length === 0 && <p className={styles.none}>{m.views_no_matching_icons()}</p>}
      </div>
    </Dialog>
  )
}

/** The icon to which an arrow key moves: the neighbour, or the nearest in the row above or below. */
function iconBeside(all: HTMLButtonElement[], at: number, key: string): HTMLButtonElement | undefined {
  const isRtl = document.documentElement.dir === 'rtl'
  if (key === (isRtl ? 'ArrowLeft' : 'ArrowRight')) return all[at + 1]
  if (key === (isRtl ? 'ArrowRight' : 'ArrowLeft')) return all[at - 1]
  if (key === 'Home') return all[0]
  if (key === 'End') return all.at(-1)
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return undefined
  const here = all[at]?.getBoundingClientRect()
  if (!here) return undefined
  const below = key === 'ArrowDown'
  const boxes = all.map((button) => ({ button, box: button.getBoundingClientRect() }))
  const others = boxes.filter(({ box }) => (below ? box.top > here.top + 4 : box.top < here.top - 4))
  const line = others.reduce(
    (best, { box }) => (below ? Math.min(best, box.top) : Math.max(best, box.top)),
    below ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY,
  )
  return others
    .filter(({ box }) => Math.abs(box.top - line) < 4)
    .toSorted((a, b) => Math.abs(a.box.left - here.left) - Math.abs(b.box.left - here.left))[0]?.button
}
