import { useMemo } from 'react'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { hasFormula, isSecret } from '../../../src/core/fields/traits.ts'
import {
  type CheckedFormula,
  checkFormula,
  type FormulaHelp,
  formulaField,
  formulaFunctions,
  storedReferences,
} from '../../../src/core/formula/index.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { trpc } from '../../trpc.ts'

/** A table as its formulas see it. */
export interface FormulaTable {
  /** All fields, by which titles become ids and ids titles. */
  all: Field[]
  /** The fields that a person is offered. */
  fields: Field[]
  /** The functions of the table's database. */
  functions: FormulaHelp[]
  /** Checks as the server does, but for circles through other tables. */
  check: (text: string) => CheckedFormula
}

/** Null while the table is being read. @param self the field that has the formula, which it cannot read */
export function useFormulaTable(
  { id, baseId }: Pick<Table, 'id' | 'baseId'>,
  self: Field | null,
): { table: FormulaTable | null; error: unknown } {
  const schema = trpc.schema.table.useQuery({ tableId: id })
  const sources = trpc.sources.list.useQuery({ baseId })
  const table = useMemo(() => {
    const source = sources.data?.find((one) => one.id === schema.data?.table.sourceId)
    if (!schema.data || !source) return null
    const { fields } = schema.data
    const byId = new Map(fields.map((field) => [field.id, field]))
    const referencesOf = (fieldId: string) => {
      const field = byId.get(fieldId)
      return field && hasFormula(field) ? storedReferences(formulaOf(field).formula) : []
    }
    const context = {
      fields: fields.map(formulaField),
      client: source.client,
      referencesOf,
      ...(self && { selfId: self.id }),
    }
    return {
      all: fields,
      fields: fields.filter((field) => field.id !== self?.id && isOffered(field)),
      functions: formulaFunctions(source.client),
      check: (text: string) => checkFormula(text, context),
    }
  }, [schema.data, sources.data, self])
  return { table, error: schema.error ?? sources.error }
}

/** What the product keeps for itself, and what is no value, can be named but is not offered. */
function isOffered(field: Field): boolean {
  const { computed } = fieldType(field.type)
  return !field.isSystem && !isSecret(field) && computed !== 'button' && computed !== 'code'
}
