import { LRUCache } from 'lru-cache'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import {
  checkFormula,
  formulaField,
  LEAF,
  type Size,
  sizeOfFormula,
} from '../../../src/core/formula/index.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Surroundings } from './rules.ts'

/** MySQL takes 63 queries within each other; some are left to a link that shows the field, and to the statement. */
const MAX_SELECTS = 54
/** SQLite takes expressions 1000 deep. */
const MAX_DEPTH = 900
/** How large the SQL of one field may become; a formula of formulas could double with each. */
const MAX_WORDS = 40_000
/** How large that of all fields of a table may become together: it has to be written and read for each page. */
const MAX_TABLE_WORDS = 500_000

/** What a subquery over linked records adds to what it reads there. */
const SUBQUERY: Size = { selects: 2, depth: 10, words: 40 }

/** The sizes of computed fields, each with all that it reads, however far away. */
export interface Sizes {
  /**
   * Takes a field in, whose reads have been taken in before. Says why an engine could not work it out, else null.
   *
   * @param reads every field that it reads
   */
  add(field: Field, reads: Field[], around: Surroundings): string | null
}

/** An empty collection. */
export function createSizes(): Sizes {
  const known = new Map<string, Size>()
  const ofTable = new Map<string, number>()
  const sizeOf = (fieldId: string): Size => known.get(fieldId) ?? LEAF

  return {
    add(field, reads, around) {
      const size = measure(field, reads, around, sizeOf)
      // A link is there whatever its records are called: what looks at it is measured by it.
      if (fieldType(field.type).computed === 'link') return keep(field, size)
      if (size.selects > MAX_SELECTS || size.depth > MAX_DEPTH) {
        return 'The field is nested too deeply, including the fields it uses'
      }
      if (size.words > MAX_WORDS) return 'The field is too complex, including the fields it uses'
      if ((ofTable.get(field.tableId) ?? 0) + size.words > MAX_TABLE_WORDS) {
        return 'The field is too complex together with the other computed fields of the table'
      }
      return keep(field, size)
    },
  }

  function keep({ id, tableId }: Field, size: Size): null {
    known.set(id, size)
    ofTable.set(tableId, (ofTable.get(tableId) ?? 0) + size.words)
    return null
  }
}

function measure(
  field: Field,
  reads: Field[],
  around: Surroundings,
  sizeOf: (fieldId: string) => Size,
): Size {
  const { computed } = fieldType(field.type)
  if (computed === 'formula' || computed === 'button') {
    return sizeOfText(formulaOf(field).formula, reads, around.clientOf(field.tableId), sizeOf)
  }
  // The way there is part of the subquery; the names that its link shows are not.
  const sizes = reads.filter(({ id }) => id !== field.options.relationFieldId).map(({ id }) => sizeOf(id))
  const own = computed === 'code' ? LEAF : SUBQUERY
  return {
    selects: Math.max(0, ...sizes.map(({ selects }) => selects)) + own.selects,
    depth: Math.max(0, ...sizes.map(({ depth }) => depth)) + own.depth,
    words: sizes.reduce((sum, { words }) => sum + words, own.words),
  }
}

/** Sizes of formulas as they were last seen: each change of a base looks at all that it has. */
const measured = new LRUCache<string, Size>({ max: 5_000 })

/** The size of a formula over fields of those sizes; as that of a column where it has a problem. */
function sizeOfText(
  formula: string,
  reads: Field[],
  client: string,
  sizeOf: (fieldId: string) => Size,
): Size {
  const fields = reads.map(formulaField)
  const key = JSON.stringify([client, formula, fields, reads.map(({ id }) => sizeOf(id))])
  const known = measured.get(key)
  if (known) return known
  const checked = checkFormula(formula, { fields, client })
  const size = checked.ok ? sizeOfFormula(checked.expression, sizeOf) : LEAF
  measured.set(key, size)
  return size
}
