import { ArrowRight } from 'lucide-react'
import type { ImportResult, UpdateResult } from '../../../src/core/csv/import-result.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import styles from './update-preview.module.css'

/** What an update did, in one sentence. */
export const updateText = ({ added, changed, unchanged }: UpdateResult, title: string): string =>
  m.imports_update_finished({ title, added, changed, unchanged })

/** The linked records that an import has created, a sentence for each table. */
export const createdTexts = ({ created = [] }: Pick<ImportResult, 'created'>): string[] =>
  created.map(({ table, count }) => m.imports_linked_created({ table, count }))

/** The links that the records of a list have got, a sentence for each field. */
export const linkTexts = ({ links = [], title }: Pick<ImportResult, 'links' | 'title'>): string[] =>
  links.map(({ field, related, count }) => m.imports_link_done({ field, table: title, related, count }))

interface UpdatePreviewProps {
  update: UpdateResult
  title: string
  created: ImportResult['created']
  links: ImportResult['links']
}

/** What an import would do: counts, and the first changed cells. */
export function UpdatePreview({ update, title, created = [], links = [] }: UpdatePreviewProps) {
  const counts = [
    { label: m.imports_count_new(), count: update.added, isShown: true },
    { label: m.imports_count_changed(), count: update.changed, isShown: true },
    { label: m.imports_count_unchanged(), count: update.unchanged, isShown: true },
    ...created.map(({ table, count }) => ({
      label: m.imports_count_new_in({ table }),
      count,
      isShown: true,
    })),
    ...links.map(({ related, count }) => ({
      label: m.imports_count_links_to({ table: related }),
      count,
      isShown: true,
    })),
    { label: m.imports_count_left_out(), count: update.skipped },
    { label: m.imports_count_without_key(), count: update.withoutKey },
    { label: m.imports_count_repeated(), count: update.repeated },
    { label: m.imports_count_ambiguous(), count: update.ambiguous },
    { label: m.imports_count_unknown_id(), count: update.unknown },
  ].filter(({ count, isShown }) => isShown || count > 0)
  const isNothing = update.added === 0 && update.changed === 0
  return (
    <div className={styles.preview}>
      <p>{isNothing ? m.imports_preview_nothing({ title }) : m.imports_preview_of_table({ title })}</p>
      <dl className={styles.counts}>
        {counts.map(({ label, count }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{formatNumber(count)}</dd>
          </div>
        ))}
      </dl>
      {update.changes.length > 0 && (
        <section aria-label={m.imports_first_changes()}>
          <h4>{m.imports_first_changes()}</h4>
          <ul className={styles.changes}>
            {update.changes.map(({ row, key, cells }) => (
              <li key={row}>
                <strong dir="auto">{key}</strong>
                <span className={styles.row}>{m.imports_row_row({ row: formatNumber(row) })}</span>
                <ul>
                  {cells.map(({ field, before, after }) => (
                    <li key={field}>
                      <span className={styles.field} dir="auto">
                        {field}
                      </span>
                      {before !== null && <Text value={before} isOld />}
                      <ArrowRight size={12} className="flip-in-rtl" aria-label={m.records_changed_to()} />
                      <Text value={after} />
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Text({ value, isOld }: { value: string; isOld?: boolean }) {
  if (value === '') return <i className={styles.empty}>{m.imports_empty_value()}</i>
  return isOld ? <del dir="auto">{value}</del> : <ins dir="auto">{value}</ins>
}
