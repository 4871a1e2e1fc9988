import { Check, type LucideIcon, UserRound, UserRoundPen, UserRoundPlus, UsersRound } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, useState } from 'react'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import {
  collaborator,
  createdBy,
  findPerson,
  idsIn,
  joinIds,
  lastModifiedBy,
  ME,
  type PeopleOptions,
  user,
} from '../../src/core/fields/people.ts'
import type { Person } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { Avatar } from '../ui/avatar.tsx'
import { type Cell, type Draft, defineCell, type EditorProps, type ViewProps } from './cell.ts'
import { Combobox, type ComboboxLine, NoLine, useActiveLine } from './combobox.tsx'
import editor from './editor.module.css'
import { useFormerPerson, usePeople } from './people-context.ts'
import styles from './view.module.css'

/** A person by their user id: avatar and name. */
const personCell = <O,>(type: FieldType<O>, Icon: LucideIcon): Cell<O> =>
  defineCell<O>(type, {
    Icon,
    isShape: true,
    align: 'start',
    minWidth: 70,
    extraWidth: 28,
    View: ({ value, field }) => <PersonName id={value} tableId={field.tableId} />,
    copyText: (value, people) => people.get(String(value))?.email ?? String(value ?? ''),
  })

/** A person's avatar and name; former members are greyed. */
export function PersonName({ id, tableId }: { id: CellValue; tableId: string }): ReactNode {
  const people = usePeople()
  const member = people.get(String(id))
  const left = useFormerPerson(tableId, id === null || id === '' || id === ME || member ? null : String(id))
  if (id === null || id === '') return null
  if (id === ME) return <span className={styles.line}>{m.cells_me()}</span>
  const person = member ?? left
  if (!person) return <span className={styles.line}>{m.cells_former_member()}</span>
  return (
    <span
      className={member ? styles.person : `${styles.person} ${styles.former}`}
      title={member ? person.email : m.cells_email_former_member({ email: person.email })}
    >
      <Avatar person={person} size={20} />
      <span className={styles.line} dir="auto">
        {person.displayName || person.email}
      </span>
    </span>
  )
}

/** The record's creator. */
export const createdByCell = personCell(createdBy, UserRoundPlus)

/** The record's last editor. */
export const lastModifiedByCell = personCell(lastModifiedBy, UserRoundPen)

/** Widths in pixels: a person besides the name, an average letter, and the "+n". */
const PERSON_PX = 30
const LETTER_PX = 7
const MORE_PX = 30

/** People by user id, as avatars and names; selected from the members of the base. */
const peopleCell = (type: FieldType<PeopleOptions>, Icon: LucideIcon): Cell<PeopleOptions> =>
  defineCell(type, {
    Icon,
    isShape: true,
    align: 'start',
    minWidth: 70,
    extraWidth: 28,
    opensList: true,
    View: PeopleView,
    Editor: PeopleEditor,
    copyText: (value, people) =>
      idsIn(value)
        .map((id) => people.get(id)?.email ?? id)
        .join(', '),
  })

function PeopleView({ value, field, width, lines, variant }: ViewProps<PeopleOptions>): ReactNode {
  const people = usePeople()
  const ids = idsIn(value)
  const fitting = width === null ? ids.length : countFitting(ids, people, width, lines)
  if (ids.length === 0) return null
  if (ids.length === 1) return <PersonName id={ids[0] ?? null} tableId={field.tableId} />
  return (
    <span className={styles.pills} data-variant={variant} data-wrap={lines > 1 || undefined}>
      {ids.slice(0, fitting).map((id) => (
        <PersonName key={id} id={id} tableId={field.tableId} />
      ))}
      {fitting < ids.length && (
        <span
          className={styles.more}
          dir="ltr"
          title={ids
            .slice(fitting)
            .map((id) => nameOf(people.get(id)) ?? m.cells_former_member())
            .join(', ')}
        >
          +{ids.length - fitting}
        </span>
      )}
    </span>
  )
}

/** Number of people that fit, estimated from the length of their names: measuring would force a second layout. */
function countFitting(
  ids: readonly string[],
  people: ReadonlyMap<string, Person>,
  width: number,
  lines: number,
): number {
  let line = 1
  let used = 0
  for (const [index, id] of ids.entries()) {
    const name = nameOf(people.get(id)) ?? m.cells_former_member()
    const size = Math.min(width, name.length * LETTER_PX + PERSON_PX)
    const room = width - (line === lines && index < ids.length - 1 ? MORE_PX : 0)
    if (used + size > room && used > 0) {
      if (line === lines) return index
      line++
      used = 0
    }
    used += size
  }
  return ids.length
}

function PeopleEditor(props: EditorProps<PeopleOptions>): ReactNode {
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

/** Members of the base, one or several. */
export const userCell = peopleCell(user, UserRound)

/** Legacy name of `User`. */
export const collaboratorCell = peopleCell(collaborator, UsersRound)

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

/** A person's display name; undefined without a person. */
const nameOf = (person: Person | undefined): string | undefined => person?.displayName || person?.email

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
