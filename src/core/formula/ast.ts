import type { CellValue } from '../fields/field-type.ts'

/** Types of single values; `datetime` is an instant, `date` a day. */
export type ScalarType = 'number' | 'text' | 'boolean' | 'date' | 'datetime' | 'null'

/** Types of lists, by what their elements are sorted as: the elements themselves are texts. Null is a list without elements. */
export type ListType = 'texts' | 'numbers'

/** Kinds of values that formulas compute with. */
export type ValueType = ScalarType | ListType

/** True for lists, which only functions for lists take as such; everything else reads their text. */
export const isListType = (type: ValueType): type is ListType => type === 'texts' || type === 'numbers'

/** Spec §8's kinds of formula errors, and one for text that is no formula at all. */
export type ProblemType =
  | 'NOT_AVAILABLE'
  | 'NOT_SUPPORTED'
  | 'MIN_ARG'
  | 'MAX_ARG'
  | 'TYPE_MISMATCH'
  | 'INVALID_ARG'
  | 'INVALID_ARG_TYPE'
  | 'INVALID_ARG_VALUE'
  | 'INVALID_ARG_COUNT'
  | 'CIRCULAR_REFERENCE'
  | 'INVALID_FUNCTION_NAME'
  | 'INVALID_COLUMN'
  | 'SYNTAX_ERROR'

/** An error in a formula with its position: offsets into the text, `to` exclusive. */
export interface Problem {
  type: ProblemType
  message: string
  from: number
  to: number
  /** For a circular reference: titles of the fields, from the formula's own round to it again. */
  path?: string[]
}

/** A piece of the text: offsets, `to` exclusive. */
export interface Span {
  from: number
  to: number
}

/** A formula as it was written. */
export type SyntaxNode = Span &
  (
    | { kind: 'literal'; value: CellValue; raw: string }
    /** `{Title}` or, where `isId`, `{{fieldId}}`. */
    | { kind: 'reference'; name: string; isId: boolean }
    | { kind: 'call'; name: string; args: SyntaxNode[] }
    | { kind: 'unary'; operator: string; operand: SyntaxNode }
    | { kind: 'binary'; operator: BinaryOperator; left: SyntaxNode; right: SyntaxNode }
  )

/** Signs between two operands, as they are kept: `==` is read as `=`, `<>` as `!=`. */
export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '&' | '=' | '!=' | '<' | '<=' | '>' | '>='

/** How a field's cells are read: the type of the value and the form it lies in. */
export type CellForm =
  | 'integer'
  | 'real'
  | 'text'
  | 'boolean'
  | 'date'
  | 'datetime'
  /** JSON text of a list: its values joined by `, `. */
  | 'list'
  /** Linked records: how many. */
  | 'linkCount'
  /** Linked records: their titles, joined by `, `. */
  | 'linkTitles'

/** A field as formulas see it; `formulaField` makes one of a `Field`. */
export interface FormulaField {
  id: string
  title: string
  /** The name of its type, e.g. `SingleLineText`. */
  type: string
  form: CellForm
  /** False for a field with a column of its own, which costs nothing to be named twice. */
  isComputed: boolean
  /** True where the field is broken: its value is null. */
  isBroken: boolean
  /** Of a formula field: its formula, with `{{fieldId}}` references. */
  formula?: string
  /** IANA name of the field's own time zone; absent for fields that are shown in the zone of the viewer. */
  zone?: string
  /** True for a field whose text is valid JSON. */
  isJson?: boolean
  /** For a `list`: true if its values are numbers. */
  isNumeric?: boolean
  /** For a `list`: true if its values are instants. */
  hasInstants?: boolean
  /** For a `text` that holds several values, or a `list` of such texts: what separates them. */
  separator?: string
}

/** Powers of ten between which a number's magnitude lies where it is not 0. */
export interface Range {
  max: number
  min: number
}

/** A formula with resolved names and types, ready to be evaluated and compiled. */
export type Expression = {
  type: ValueType
  range: Range
  /** Time zone of an instant, in which calls on it compute; absent: the formula's. */
  zone?: string
} /** A date's value is in milliseconds; an instant's in wall time. */ & (
  | { kind: 'literal'; value: CellValue }
  | { kind: 'field'; field: FormulaField }
  | { kind: 'call'; name: string; args: Expression[] }
  | { kind: 'convert'; to: Conversion; from: Expression }
)

/**
 * Conversions that the check puts in: to text, to text with null as empty text, to a number, to a two-valued
 * truth, to an instant (midnight in the zone), to a list with this one element, from null to null of another type, and
 * `limit`, which makes a number null that has left the range of formulas.
 */
export type Conversion = 'text' | 'joined' | 'number' | 'truth' | 'datetime' | 'list' | 'limit' | 'nothing'
