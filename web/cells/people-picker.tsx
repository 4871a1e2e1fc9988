import { Check } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, useState } from 'react'
import type { PeopleOptions } from '../../src/core/fields/people.ts'
import type { Person } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { Avatar } from '../ui/avatar.tsx'
import type { Draft, EditorProps } from './cell.ts'
import { Combobox, type ComboboxLine, NoLine } from './combobox.tsx'
import styles from './editor.module.css'
import { usePeople } from './people.ts'
import { PersonName } from './person-cell.tsx'
import { useActiveLine } from './use-active-line.ts'

interface PeoplePickerProps extends EditorProps<PeopleOptions> {
  selected: readonly string[]
  several: boolean
  /** Someone was chosen, or chosen once more. */
  onToggle(id: string): void
  /** What leaving with this text in the input means. */
  read(text: string, highlighted: Person | undefined): Draft
  onRemoveLast(): void
}

/** Most people that the list draws; typing finds the others. */
const MAX_SHOWN = 200

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
    .slice(0, MAX_SHOWN)
    .map(({ person }) => person)
}

/** The editor of people: the members, found as one types. */
export function PeoplePicker(props: PeoplePickerProps): ReactNode {
  const { selected, several } = props
  const people = usePeople()
  const [text, setText] = useState(props.typed ?? '')
  const input = useRef<HTMLInputElement>(null)
  const lines = findPeople(people.values(), text).map((person) => drawn(person, selected))
  const active = useActiveLine(lines, { text })

  useImperativeHandle(props.ref, () => ({
    read: () => {
      const now = input.current?.value ?? text
      if (now !== text) return props.read(now, findPeople(people.values(), now)[0])
      // Opening a list chooses nobody.
      const isMeant = now !== '' || (active.isWalkedTo && !several)
      return props.read(now, isMeant ? active.line?.person : undefined)
    },
    focus: () => input.current?.focus(),
  }))

  function choose({ key, person }: DrawnPerson) {
    setText('')
    active.go(key)
    props.onToggle(person.id)
    input.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Backspace' && text === '') props.onRemoveLast()
    if (event.key !== 'Enter' || event.shiftKey || !several || !active.line) return
    // Among several, Enter ticks; without a choice to make it leaves (the owner's Enter).
    if (text === '' && !active.isWalkedTo) return
    event.preventDefault()
    choose(active.line)
  }

  return (
    <Combobox
      editor={props}
      input={input}
      text={text}
      onText={setText}
      lines={lines}
      active={active}
      several={several}
      onKeyDown={onKeyDown}
      onChoose={choose}
      placeholder={selected.length === 0 ? m.cells_name_or_e_mail() : ''}
      before={selected.map((id) => (
        <span key={id} className={styles.chosenPerson}>
          <PersonName id={id} tableId={props.field.tableId} />
          <button
            type="button"
            tabIndex={-1}
            className={styles.removePerson}
            aria-label={m.cells_remove_title({ title: nameOf(people.get(id)) ?? m.cells_former_member() })}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => props.onToggle(id)}
          >
            ×
          </button>
        </span>
      ))}
      foot={lines.length === 0 && <NoLine>{m.cells_no_matching_members()}</NoLine>}
    />
  )
}

interface DrawnPerson extends ComboboxLine {
  person: Person
}

function drawn(person: Person, selected: readonly string[]): DrawnPerson {
  const isChosen = selected.includes(person.id)
  const content = (
    <>
      <Avatar person={person} size={22} />
      <span className={styles.personWords} dir="auto">
        {nameOf(person)}
        {person.displayName && <small className={styles.faint}>{person.email}</small>}
      </span>
      {isChosen && <Check size={14} aria-hidden className={styles.chosen} />}
    </>
  )
  return { key: person.id, testId: 'option', isChosen, content, person }
}
