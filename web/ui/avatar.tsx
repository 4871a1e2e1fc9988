import type { Person } from '../../src/core/model.ts'
import styles from './avatar.module.css'

/** Colours with a contrast of 4.5:1 to white text. */
const COLORS = ['#2450d6', '#7c3aed', '#be1d6e', '#b4540a', '#157a5a', '#0e7490', '#475569']

/** A person's initials on a coloured circle. Decorative: the name is next to it or in the label. */
export function Avatar({
  person,
  size = 32,
}: {
  person: Pick<Person, 'id' | 'email' | 'displayName'>
  size?: number
}) {
  return (
    <span
      aria-hidden
      className={styles.avatar}
      style={{ inlineSize: size, blockSize: size, fontSize: size * 0.4, background: colorOf(person.id) }}
    >
      {initials(person.displayName || person.email)}
    </span>
  )
}

/** The colour of a person, the same everywhere. Has a contrast of 4.5:1 to white text. */
export function colorOf(id: string): string {
  let hash = 0
  for (const char of id) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return COLORS[hash % COLORS.length] ?? '#475569'
}

function initials(name: string): string {
  const words = (name.split('@')[0] ?? '').split(/[\s._-]+/).filter(Boolean)
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  )
  return letters.join('').toLocaleUpperCase()
}
