import { Check } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { PeopleOptions } from '../../src/core/fields/people-value.ts'
import type { Person } from '../../src/core/model.ts'
import { t } from '../i18n.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Popover } from '../ui/popover.tsx'
import type { Draft, EditorProps } from './cell.ts'
import styles from './editor.module.css'
import { usePeople } from './people.ts'
import { PersonName } from './person-cell.tsx'
import { useFocusAtEnd } from './text-input.tsx'

interface PeoplePickerProps extends EditorProps<PeopleOptions> {
  selected: readonly string[]
  several: boolean
  /** Someone was chosen, or chosen once more. */
  onToggle(id: string): void
  /** What leaving with this text in the input means. */
  read(text: string, highlighted: Person | undefined): Draft
  onRemoveLast(): void
}

/** How people call someone; undefined for nobody. */
export const nameOf = (person: Person | undefined): string | undefined => person?.displayName || person?.email

/** Those whose name or e-mail holds the text, those first in whom a word begins with it. */
function findPeople(people: Iterable<Person>, text: string): Person[] {
  const wanted = text.trim().toLocaleLowerCase()
  const rank = ({ displayName, email }: Person): number => {
    const words = `${displayName ?? ''} ${email}`.toLocaleLowerCase()
    if (!words.includes(wanted)) return 2
    return words.split(/[\s._-]+/).some((word) => word.startsWith(wanted)) ? 0 : 1
  }
  return [...people]
    .map((person) => ({ person, rank: rank(person), name: nameOf(person) ?? '' }))
    .filter((each) => each.rank < 2)
    .sort((a, b) => a.rank - b.rank || a.name.localeCompare(b.name))
    .map(({ person }) => person)
}

/**
 * The editor of people: an input that filters, over a list of the members. The focus stays in the input and
 * points at the highlighted line (ARIA combobox).
 */
export function PeoplePicker(props: PeoplePickerProps): ReactNode {
  const { selected, several, variant, typed, ref } = props
  const people = usePeople()
  const [text, setText] = useState(typed ?? '')
  const [at, setAt] = useState(typed ? 0 : -1)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const movedByHand = useRef(false)
  const listId = useId()
  const found = findPeople(people.values(), text)
  const highlighted = found[Math.min(at, found.length - 1)]

  useImperativeHandle(ref, () => ({
    read: () => {
      const now = input.current?.value ?? text
      // A line counts as chosen once one has typed or walked to it; opening a list chooses nobody.
      const isMeant = now !== '' || (movedByHand.current && !several)
      return props.read(
        now,
        isMeant ? (now === text ? highlighted : findPeople(people.values(), now)[0]) : undefined,
      )
    },
    focus: () => input.current?.focus(),
  }))
  useFocusAtEnd(input, props.autoFocus)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another line is highlighted
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at, text, anchor])

  function choose(person: Person | undefined) {
    if (!person) return
    setText('')
    props.onToggle(person.id)
    input.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      movedByHand.current = true
      setAt(Math.max(0, Math.min(found.length - 1, Math.min(at, found.length - 1) + move)))
    } else if (event.key === 'Enter' && !event.shiftKey && several && highlighted) {
      // Among several, Enter ticks; without a choice to make it leaves (the owner's Enter).
      if (text === '' && !movedByHand.current) return
      event.preventDefault()
      choose(highlighted)
      movedByHand.current = false
      setAt(-1)
    } else if (event.key === 'Backspace' && text === '') props.onRemoveLast()
  }

  return (
    <div className={variant === 'grid' ? styles.picker : styles.recordPicker} ref={setAnchor}>
      {selected.map((id) => (
        <span key={id} className={styles.chosenPerson}>
          <PersonName id={id} tableId={props.field.tableId} />
          <button
            type="button"
            tabIndex={-1}
            className={styles.removePerson}
            aria-label={t('Remove {title}', { title: nameOf(people.get(id)) ?? t('Former member') })}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => props.onToggle(id)}
          >
            ×
          </button>
        </span>
      ))}
      <input
        ref={input}
        id={props.id}
        role="combobox"
        className={styles.pickerInput}
        dir="auto"
        value={text}
        placeholder={selected.length === 0 ? t('Name or e-mail') : ''}
        autoComplete="off"
        aria-label={props.label}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={highlighted ? `${listId}-${found.indexOf(highlighted)}` : undefined}
        aria-invalid={props.invalid || undefined}
        aria-describedby={props.describedBy}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
          movedByHand.current = false
        }}
        onKeyDown={onKeyDown}
      />
      {anchor && (
        <Popover anchor={anchor} onClose={() => {}} focus="none" className={styles.popover}>
          <div
            ref={list}
            id={listId}
            role="listbox"
            aria-label={props.label}
            aria-multiselectable={several || undefined}
            data-cell-popover
            className={styles.options}
          >
            {found.map((person, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: keys come through the input, which has the focus
              <div
                key={person.id}
                id={`${listId}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={person === highlighted}
                aria-checked={selected.includes(person.id)}
                className={styles.option}
                data-testid="option"
                // The input keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(person)}
              >
                <Avatar person={person} size={22} />
                <span className={styles.personWords} dir="auto">
                  {nameOf(person)}
                  {person.displayName && <small className={styles.faint}>{person.email}</small>}
                </span>
                {selected.includes(person.id) && <Check size={14} aria-hidden className={styles.chosen} />}
              </div>
            ))}
            {found.length === 0 && <div className={styles.noOption}>{t('Nobody here has this name')}</div>}
          </div>
        </Popover>
      )}
    </div>
  )
}
