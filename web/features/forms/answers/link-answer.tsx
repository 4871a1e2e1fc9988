import { Plus, X } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { isSingleLink, linkOptions } from '../../../../src/core/fields/link-options.ts'
import { formatName, namesOf } from '../../../../src/core/fields/linked-names.ts'
import type { LinkedRecord } from '../../../../src/core/fields/list-value.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { LinkTarget } from '../../../cells/cell.ts'
import { LinkAdder } from '../../../cells/link-picker.tsx'
import { linksIn, linkValue, titleOf } from '../../../cells/link-value.ts'
import { m } from '../../../messages.gen.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Group } from '../../../ui/composite.tsx'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'

/** Linked records, chosen and listed by display value; other fields of the records are not shown. */
export function LinkAnswer({ question, run, id, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
  const { field, form } = question
  const value = run.value(field.id)
  const { records } = linksIn(value)
  const [isAdding, setAdding] = useState(false)
  const add = useRef<HTMLButtonElement>(null)
  const links = useLinkTarget({ question, run })
  const close = (takesFocus: boolean) => {
    setAdding(false)
    run.leave(field.id)
    if (takesFocus) queueMicrotask(() => add.current?.focus())
  }
  return (
    <Group
      role="group"
      aria-labelledby={labelId}
      className={styles.links}
      data-invalid={isInvalid || undefined}
    >
      {records.length > 0 && (
        <ul className={styles.fileList}>
          {records.map((record) => (
            <li key={String(record.id)} className={styles.file}>
              <span className={styles.fileName} dir="auto">
                {nameIn(field, record)}
              </span>
              {!isReadOnly && (
                <IconButton
                  icon={X}
                  size="small"
                  label={m.form_remove_title({ title: nameIn(field, record) })}
                  onClick={() => void links.unlink(record)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {!isAdding && !isReadOnly && (
        <button
          ref={add}
          id={id}
          type="button"
          className={styles.opener}
          aria-haspopup="listbox"
          aria-describedby={describedBy}
          data-invalid={isInvalid || undefined}
          onClick={() => setAdding(true)}
        >
          <Plus size={14} aria-hidden />
          {links.isSingle && records.length > 0
            ? m.form_choose_another_record({ record: links.singular })
            : m.form_choose_record({ record: links.singular })}
        </button>
      )}
      {isAdding && (
        <LinkAdder
          field={field}
          value={value}
          links={links}
          describedBy={describedBy}
          label={form.label ?? field.title}
          invalid={isInvalid}
          onClose={close}
        />
      )}
    </Group>
  )
}

/** Title of a linked record, formatted by its table's display field. */
const nameIn = (field: Field, record: LinkedRecord): string =>
  formatName(namesOf(field), record.title) ?? titleOf(record)

/** Link target that reads and writes the form's answer, since no record exists yet. */
function useLinkTarget({ question, run }: Pick<AnswerProps, 'question' | 'run'>): LinkTarget {
  const { field } = question
  const latest = useRef(run)
  latest.current = run
  const listeners = useRef(new Set<() => void>())
  return useMemo((): LinkTarget => {
    const options = linkOptions.parse(field.options)
    const isSingle = isSingleLink(options)
    const current = () => latest.current.value(field.id)
    const write = async (records: readonly LinkedRecord[]): Promise<boolean> => {
      latest.current.set(field.id, linkValue(records))
      for (const listener of listeners.current) listener()
      return true
    }
    return {
      isSingle,
      singular: options.singular || m.common_record_noun(),
      plural: options.plural || m.common_records_noun(),
      canWrite: true,
      current,
      subscribe(listener) {
        listeners.current.add(listener)
        return () => listeners.current.delete(listener)
      },
      async read(which, page, signal) {
        const { records } = linksIn(current())
        if (which === 'linked') {
          const search = page.search.trim().toLowerCase()
          const lines = records
            .map((record) => ({ ...record, name: nameIn(field, record), details: [] }))
            .filter(({ name }) => name.toLowerCase().includes(search))
          return { lines: lines.slice(page.offset), hasMore: false, mayCreate: false }
        }
        const found = await latest.current.source.linkable(field, page, signal)
        const ids = new Set(records.map(({ id }) => id))
        return { ...found, mayCreate: false, lines: found.lines.filter(({ id }) => !ids.has(id)) }
      },
      link: ({ id, title }) => {
        const others = isSingle ? [] : linksIn(current()).records.filter((one) => one.id !== id)
        return write([...others, { id, title }])
      },
      unlink: ({ id }) => write(linksIn(current()).records.filter((one) => one.id !== id)),
      create: async () => null,
    }
  }, [field])
}
