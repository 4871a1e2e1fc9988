import { Check } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, useState } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { findPerson, idsIn, joinIds, type PeopleOptions } from '../../src/core/fields/people.ts'
import type { Person } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { Avatar } from '../ui/avatar.tsx'
import type { Draft, EditorProps } from './cell.ts'
import { Combobox, type ComboboxLine, NoLine, useActiveLine } from './combobox.tsx'
import editor from './editor.module.css'
import { nameOf, usePeople } from './people-context.ts'
import { PersonName } from './person-name.tsx'

/** A list of members, of which one or several are selected. */
export function PeopleEditor(props: EditorProps<PeopleOptions>): ReactNode {
  const { options, change, commit } = props
  const people = usePeople()
  const [selected, setSelected] = useState(() => idsIn(props.value))
  const set = (ids: string[]) => {
    setSelected(ids)
    // In a record, each choice is saved, because the list stays open; a grid cell saves once when it closes.
    if (props.variant === 'record') change(joinIds(ids))
  }
  const kept = (ids: string[]): Draft => {
    const value: CellValue = joinIds(ids)
    return { ok: true, value: value === joinIds(idsIn(props.value)) ? props.value : value }
  }
  return (
    <PeoplePicker
      {...props}
      selected={selected}
      several={options.multiple}
      onToggle={(id) => {
        const without = selected.filter((each) => each !== id)
        if (options.multiple) set(without.length < selected.length ? without : [...selected, id])
        else commit(selected.includes(id) ? null : id, 'stay')
      }}
      onRemoveLast={() => set(selected.slice(0, -1))}
      read={(text, highlighted) => {
        const person =
          text.trim() === '' ? highlighted : (findPerson([...people.values()], text) ?? highlighted)
        if (text.trim() !== '' && !person)
          return { ok: false, message: m.cells_no_member_named_text({ text: text.trim() }) }
        if (!person) return kept(selected)
        return options.multiple ? kept([...new Set([...selected, person.id])]) : kept([person.id])
      }}
    />
  )
}

interface PeoplePickerProps extends EditorProps<PeopleOptions> {
  selected: readonly string[]
  several: boolean
  /** Selects or deselects a person. */
  onToggle(id: string): void
  /** Interprets the typed text when the picker is left. */
  read(text: string, highlighted: Person | undefined): Draft
  onRemoveLast(): void
}

/** Maximum number of people listed; typing finds others. */
const MAX_SHOWN = 200

/** People whose name or e-mail contains the text, matches at the start of a word first. */
function findPeople(people: Iterable<Person>, text: string): Person[] {
  const search = text.trim().toLocaleLowerCase()
  const rank = ({ displayName, email }: Person): number => {
    const words = `${displayName ?? ''} ${email}`.toLocaleLowerCase()
    if (!words.includes(search)) return 2
    return words.split(/[\s._-]+/).some((word) => word.startsWith(search)) ? 0 : 1
  }
  return [...people]
    .map((person) => ({ person, rank: rank(person), name: nameOf(person) ?? '' }))
    .filter((each) => each.rank < 2)
    .sort((a, b) => a.rank - b.rank || a.name.localeCompare(b.name))
    .slice(0, MAX_SHOWN)
    .map(({ person }) => person)
}

/** The editor for people: a list of members, filtered by the typed text. */
function PeoplePicker(props: PeoplePickerProps): ReactNode {
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
      // Opening the list selects nothing.
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
    // With several people, Enter toggles the active one; without an active one, the owner handles Enter.
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
        <span key={id} className={editor.chosenPerson}>
          <PersonName id={id} tableId={props.field.tableId} />
          <button
            type="button"
            tabIndex={-1}
            className={editor.removePerson}
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
      <span className={editor.personWords} dir="auto">
        {nameOf(person)}
        {person.displayName && <small className={editor.faint}>{person.email}</small>}
      </span>
      {isChosen && <Check size={14} aria-hidden className={editor.chosen} />}
    </>
  )
  return { key: person.id, testId: 'option', isChosen, content, person }
}
