import { ChevronDown } from 'lucide-react'
import { useId, useState } from 'react'
import { m } from '../../../messages.gen.ts'
import { Popover } from '../../../ui/overlays.ts'
import toolbar from '../controls/toolbar.module.css'
import styles from './filter-menu.module.css'

/** One line that can be picked. */
export interface PickedChoice {
  value: string
  title: string
  color?: string
}

export interface ChoicePickerProps {
  choices: readonly PickedChoice[]
  several: boolean
  value: readonly string[]
  onChange: (value: string[]) => void
}

/** Lists beyond this length show their first lines until one searches. */
const MAX_SHOWN = 200

/** Picks one or several of a list, which can be searched. */
export function ChoicePicker({ choices, several, value, onChange }: ChoicePickerProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [text, setText] = useState('')
  const name = useId()
  const picked = value.map(
    (one) => choices.find((choice) => choice.value === one) ?? { value: one, title: one },
  )
  const wanted = text.trim().toLowerCase()
  const found = choices.filter((choice) => choice.title.toLowerCase().includes(wanted))

  function toggle(one: string) {
    if (several)
      return onChange(value.includes(one) ? value.filter((other) => other !== one) : [...value, one])
    onChange([one])
    setAnchor(null)
  }

  return (
    <>
      <button
        type="button"
        className={`${toolbar.select} ${styles.picker}`}
        aria-haspopup="dialog"
        aria-expanded={anchor !== null}
        aria-label={
          picked.length > 0 ? picked.map(({ title }) => title).join(', ') : m.views_choose_a_value()
        }
        onClick={(event) => setAnchor(anchor ? null : event.currentTarget)}
      >
        <span className={styles.picked} dir="auto">
          {picked.length === 0 && <span className={toolbar.hint}>{m.common_choose()}</span>}
          {picked.slice(0, 2).map((one) => (
            <Pill key={one.value} choice={one} />
          ))}
          {picked.length > 2 && <span className={toolbar.hint}>+{picked.length - 2}</span>}
        </span>
        <ChevronDown size={13} aria-hidden />
      </button>
      {anchor && (
        <Popover
          anchor={anchor}
          onClose={() => setAnchor(null)}
          label={m.views_choose_a_value()}
          className={styles.choices}
        >
          <input
            type="search"
            className={toolbar.input}
            placeholder={m.common_search()}
            aria-label={m.common_search()}
            data-autofocus
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <div className={styles.choiceList}>
            {found.slice(0, MAX_SHOWN).map((choice) => (
              <label key={choice.value} className={styles.choice}>
                <input
                  type={several ? 'checkbox' : 'radio'}
                  name={name}
                  checked={value.includes(choice.value)}
                  onChange={() => toggle(choice.value)}
                />
                <Pill choice={choice} />
              </label>
            ))}
            {found.length === 0 && <p className={toolbar.hint}>{m.views_no_results()}</p>}
            {found.length > MAX_SHOWN && (
              <p className={toolbar.hint}>{m.common_more_count({ count: found.length - MAX_SHOWN })}</p>
            )}
          </div>
        </Popover>
      )}
    </>
  )
}

function Pill({ choice }: { choice: PickedChoice }) {
  return (
    <span className={choice.color ? styles.pill : undefined} style={{ background: choice.color }} dir="auto">
      {choice.title}
    </span>
  )
}
