import type { Expression, FormulaField, Problem, SyntaxNode } from './ast.ts'

/** What a formula is checked against. */
export interface CheckContext {
  /** The fields of its table. */
  fields: readonly FormulaField[]
  /** The database's client, e.g. `sqlite3`: not every function is for every one. */
  client: string
  /** The field that has the formula, if it is there already. */
  selfId?: string
  /** Ids of the fields from which a computed field of the same table takes its value, for finding circles. */
  referencesOf?: (fieldId: string) => readonly string[]
}

/** A field that a formula names, and where. */
export interface FoundReference {
  field: FormulaField
  from: number
  to: number
}

/** What checks the nodes of one formula and notes their problems. */
export interface NodeChecker {
  /** Null for a node that has a problem. */
  check(node: SyntaxNode): Expression | null
  /** Notes a problem at a node. */
  refuse(node: SyntaxNode, type: Problem['type'], message: string): null
}
