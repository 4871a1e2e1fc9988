export {
  checkCondition,
  checkFilter,
  filterSchema,
  isComplete,
  MAX_CONDITIONS,
  MAX_PLANNED_DEPTH,
  readFilter,
  verificationFailed,
} from './check.ts'
export {
  type CompileContext,
  compileFilter,
  filterTester,
  type MatchContext,
  matchesFilter,
} from './compile.ts'
export * from './filter.ts'
export { type FilterField, type FilterMoment, MAX_LIST, setOf } from './operand.ts'
export { findOperator, OPERATORS, operatorsFor } from './operators/index.ts'
export { type Arity, arityFor, type FilterOperator } from './operators/operator.ts'
export { type AnyOf, escapeLike, type FilterPrimitives, listPrimitives, type Sign } from './primitives.ts'
export { isWithinOperand, operandNeeds } from './relative-dates.ts'
