import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { type LinkedRecord, readLinks, readList } from '../../../src/core/fields/list-value.ts'
import type { Field } from '../../../src/core/model.ts'
import type { ReadContext } from '../read/index.ts'
import { buttonOf } from '../table/index.ts'
import type { Presenter, Row } from './presenter.ts'

type Present = (value: CellValue) => unknown

/** The tables that fields are computed over, and the engine that computes them. */
export type PresentContext = Pick<ReadContext, 'models' | 'dialect' | 'visitor'>

/**
 * How the values of a computed field stand in answers (wire reference §15), where not as they come out of the
 * database: records of a link as objects, lists as arrays, `"ERR"` for a formula that has failed.
 */
export function presentComputed(field: Field, { models, dialect }: PresentContext): Present | null {
  if (fieldType(field.type).linkAnswer === 'records') return presentRecords(field, models)
  if (fieldType(field.type).computed === 'formula') {
    if (field.error !== null) return () => 'ERR'
    // True and false are 1 and 0 in whatever engine.
    return shownType(field).type.storage === 'boolean'
      ? (value) => (value === null ? null : Number(value))
      : null
  }
  if (fieldType(field.type).computed === 'button') return (link) => buttonOf(field, link)
  // Lists of files are given their links elsewhere.
  const { isList, type } = shownType(field)
  if (!isList || type.holdsFiles) return null
  // As a cell of the same engine stands in answers: 1 and 0 where its columns hold numbers.
  const areNumbers = type.storage === 'boolean' && dialect.decode('boolean') !== null
  return areNumbers ? (list) => readList(list).map((one) => (one === null ? null : Number(one))) : readList
}

function presentRecords(field: Field, models: PresentContext['models']): Present {
  const link = linkOf(field)
  const related = link && models.get(link.relatedTableId)
  if (!link || !related) return () => null
  const { primaryKey, displayField } = related
  const present = ({ id, title }: LinkedRecord) => ({ [primaryKey.title]: id, [displayField.title]: title })
  return isSingleLink(link)
    ? (value) => readLinks(value).records.map(present)[0] ?? null
    : (value) => readLinks(value).records.map(present)
}

/** A presenter of rows that also gives computed fields their form; the one that was there where there are none. */
export function withComputed(
  fields: Field[],
  next: Presenter | null,
  context: PresentContext,
): Presenter | null {
  const found = fields.flatMap((field) => {
    if (fieldType(field.type).computed === undefined) return []
    const present = presentComputed(field, context)
    return present ? [{ title: field.title, present }] : []
  })
  if (found.length === 0) return next
  return async (rows: Row[]) => {
    for (const row of rows) {
      for (const { title, present } of found) row[title] = present((row[title] ?? null) as CellValue)
    }
    await next?.(rows)
  }
}
