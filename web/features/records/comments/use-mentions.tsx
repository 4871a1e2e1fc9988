import { type KeyboardEvent, type ReactNode, type RefObject, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { mentionOf, replaceMentions } from '../../../../src/core/mentions.ts'
import type { Person } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { ControlGroup, Option } from '../../../ui/composite.tsx'
import { Popover } from '../../../ui/overlays.ts'
import styles from './record-comments.module.css'

/** People offered at once. */
const MAX_OFFERED = 6
/** An @ at the start of a word, and what is typed after it. */
const TYPED = /(?:^|[\s(])@([^\s@]{0,40})$/

/** The name by which a person is mentioned: unique among the people. */
function mentionName(person: Person, people: readonly Person[]): string {
  const name = person.displayName?.trim()
  const isUnique = name && !people.some((one) => one.id !== person.id && one.displayName?.trim() === name)
  return isUnique ? name : person.email
}

/** A stored text as people edit it: with names in place of ids. */
export function toEdited(text: string, people: readonly Person[]): string {
  return replaceMentions(text, (userId) => {
    const person = people.find(({ id }) => id === userId)
    return person ? `@${mentionName(person, people)}` : mentionOf(userId)
  })
}

/** An edited text as it is stored: the names of people who were there or chosen become mentions. */
export function toStored(text: string, people: readonly Person[]): string {
  const names = people
    .map((person) => ({ id: person.id, name: `@${mentionName(person, people)}` }))
    // “@Ann Lee” before “@Ann”.
    .sort((a, b) => b.name.length - a.name.length)
  let stored = ''
  for (let at = 0; at < text.length; ) {
    const isStart = text[at] === '@' && !/\w/.test(text[at - 1] ?? '')
    const found = isStart
      ? names.find(({ name }) => text.startsWith(name, at) && !/\w/.test(text[at + name.length] ?? ''))
      : undefined
    stored += found ? mentionOf(found.id) : (text[at] ?? '')
    at += found ? found.name.length : 1
  }
  return stored
}

interface Mentions {
  /** The list of people, while one is being typed. */
  list: ReactNode
  /** Attributes of the text area. */
  area: Record<string, unknown>
  /** Call when the text or the caret changes. */
  follow(): void
  /** True if the key was for the list. */
  onKeyDown(event: KeyboardEvent): boolean
}

/** Offers people while one types @ in a text area. */
export function useMentions(
  area: RefObject<HTMLTextAreaElement | null>,
  people: readonly Person[],
  setText: (text: string) => void,
): Mentions {
  const [typed, setTyped] = useState<string | null>(null)
  const [active, setActive] = useState(0)
  const listId = useId()
  const needle = (typed ?? '').toLowerCase()
  const offered =
    typed === null
      ? []
      : people
          .filter(({ email, displayName }) =>
            [email, displayName ?? ''].some((name) =>
              name
                .toLowerCase()
                .split(/\s+/)
                .some((word) => word.startsWith(needle)),
            ),
          )
          .slice(0, MAX_OFFERED)
  const current = Math.min(active, offered.length - 1)

  function follow(): void {
    const { value = '', selectionStart = 0, selectionEnd = 0 } = area.current ?? {}
    const found = selectionStart === selectionEnd ? TYPED.exec(value.slice(0, selectionStart)) : null
    setTyped(found?.[1] ?? null)
    if (found?.[1] !== typed) setActive(0)
  }

  function choose(person: Person): void {
    const element = area.current
    if (!element || typed === null) return
    const from = element.selectionStart - typed.length
    const name = `${mentionName(person, people)} `
    const text = element.value.slice(0, from) + name + element.value.slice(element.selectionStart)
    // Drawn at once, so that the next key is typed behind the name.
    flushSync(() => {
      setText(text)
      setTyped(null)
    })
    element.focus()
    element.setSelectionRange(from + name.length, from + name.length)
  }

  function onKeyDown(event: KeyboardEvent): boolean {
    if (offered.length === 0) return false
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) setActive((current + by + offered.length) % offered.length)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(offered[current]!)
    else if (event.key === 'Escape') setTyped(null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const isOpen = offered.length > 0
  const optionId = (at: number) => `${listId}-${at}`
  return {
    follow,
    onKeyDown,
    area: {
      'aria-autocomplete': 'list',
      'aria-controls': isOpen ? listId : undefined,
      'aria-activedescendant': isOpen ? optionId(current) : undefined,
    },
    list: isOpen && area.current && (
      <Popover anchor={area.current} focus="none" onClose={() => setTyped(null)}>
        <ControlGroup id={listId} role="listbox" aria-label={m.comments_mention()} className={styles.people}>
          {offered.map((person, at) => (
            <Option
              key={person.id}
              id={optionId(at)}
              isActive={at === current}
              aria-selected={at === current}
              className={styles.person}
              onPointerDown={(event) => {
                // The text area keeps the focus.
                event.preventDefault()
                choose(person)
              }}
            >
              <Avatar person={person} size={20} />
              <span dir="auto">{person.displayName || person.email}</span>
              {person.displayName && <small dir="ltr">{person.email}</small>}
            </Option>
          ))}
        </ControlGroup>
        <span className="visually-hidden" role="status">
          {m.comments_people_offered({ count: offered.length })}
        </span>
      </Popover>
    ),
  }
}
