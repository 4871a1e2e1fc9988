import { describe, expect, test } from 'bun:test'
import { type FieldTypeName, readOptions } from '../../src/core/fields/index.ts'
import type { Filter } from '../../src/core/filters/index.ts'
import type { Field, ViewField } from '../../src/core/model.ts'
import { type FormField, formField } from '../../src/core/views/form.ts'
import {
  checkAnswers,
  formFieldProblem,
  isFormField,
  redirectAddress,
  visibleQuestions,
} from '../../src/core/views/form-answers.ts'
import { offeredChoices } from '../../src/core/views/question.ts'

function field(id: string, type: FieldTypeName, more: Partial<Field> & { set?: object } = {}): Field {
  const { set, ...rest } = more
  return {
    id,
    tableId: 't',
    title: id,
    columnName: id,
    type,
    options: readOptions(type, set ?? {}),
    description: null,
    required: false,
    unique: false,
    defaultValue: null,
    order: 1,
    isDisplay: false,
    isPrimaryKey: false,
    isSystem: false,
    databaseType: null,
    readOnlyReason: null,
    result: null,
    error: null,
    ...rest,
  }
}

const line = (fieldId: string, order: number, form: Partial<FormField> = {}, show = true): ViewField => ({
  fieldId,
  show,
  order,
  width: 200,
  summary: null,
  form: formField.parse(form),
})

const CHOICES = { choices: [{ title: 'Meat' }, { title: 'Fish' }, { title: 'None' }] }
const fields = [
  field('name', 'SingleLineText', { isDisplay: true }),
  field('age', 'Number'),
  field('meal', 'SingleSelect', { set: CHOICES }),
  field('why', 'LongText'),
  field('terms', 'Checkbox'),
  field('secret', 'SingleLineText'),
  field('sum', 'Formula'),
  field('team', 'Links', { set: { kind: 'mm' } }),
  field('boss', 'LinkToAnotherRecord', { set: { kind: 'bt', holdsKey: true } }),
]
const isNone: Filter = { fieldId: 'meal', operator: 'eq', value: 'None' }
const view = {
  fields: [
    line('why', 4, { required: true, showIf: isNone }),
    line('name', 1, {
      required: true,
      rules: [{ rule: 'minLength', value: 2, message: 'Your {whole} name' }],
    }),
    line('age', 2, { rules: [{ rule: 'min', value: 18, message: null }] }),
    line('meal', 3, { limitOptions: ['Fish', 'None'] }),
    line('terms', 5, { required: true }),
    line('secret', 6, {}, false),
    line('sum', 7),
    line('team', 8, { showIf: { fieldId: 'why', operator: 'notblank', value: null } }),
  ],
}
const GOOD = { name: 'Ann', age: 20, meal: 'Fish', terms: true }
const check = (values: Record<string, unknown>) => checkAnswers({ view, fields, values })
const told = (values: Record<string, unknown>) =>
  check(values).problems.map(({ fieldId, message }) => `${fieldId}: ${message}`)

describe('answers to a form', () => {
  test('are asked for in the order of the form, by fields that people write', () => {
    const ids = visibleQuestions(view, fields, { meal: 'None', why: 'x' }).map(({ field }) => field.id)
    expect(ids).toEqual(['name', 'age', 'meal', 'why', 'terms', 'team'])
    const never = [
      field('a', 'ID', { isPrimaryKey: true }),
      field('b', 'CreatedTime'),
      field('c', 'Lookup'),
      field('d', 'AutoNumber'),
      field('e', 'Number', { isPrimaryKey: true }),
      field('f', 'ForeignKey'),
      field('g', 'Number', { isSystem: true }),
      field('h', 'Number', { readOnlyReason: 'generated' }),
    ]
    expect(never.filter(isFormField)).toEqual([])
  })

  test('are refused with every problem named', () => {
    expect(told({})).toEqual(['name: This question is required', 'terms: Check this box to continue'])
    expect(told({ name: '  ', age: 'x', meal: 'Meat', terms: false })).toEqual([
      'name: This question is required',
      'age: Expected a number, got x',
      'meal: “Meat” is not an available option',
      'terms: Check this box to continue',
    ])
    expect(told({ ...GOOD, name: 'A', age: 17 })).toEqual([
      'name: Your {whole} name',
      'age: Must be at least 18',
    ])
    expect(told({ ...GOOD, meal: 'None' })).toEqual(['why: This question is required'])
  })

  test('come back as cells, of the questions that are asked and nothing else', () => {
    expect(check({ ...GOOD, age: '20', why: 'hidden', secret: 'x', sum: 1, nobody: 2, team: [1] })).toEqual({
      values: { name: 'Ann', age: 20, meal: 'Fish', terms: true },
      problems: [],
    })
    const asked = check({ ...GOOD, meal: 'None', why: 'Vegan', team: [1, 2] })
    expect(asked).toEqual({ values: { ...GOOD, meal: 'None', why: 'Vegan', team: '[1,2]' }, problems: [] })
  })

  test('a question behind one that is not asked sees nothing of its answer', () => {
    const ids = visibleQuestions(view, fields, { meal: 'Fish', why: 'left over' }).map(
      ({ field }) => field.id,
    )
    expect(ids).not.toContain('team')
  })

  test('a condition on a later or hidden field has no effect', () => {
    const on = (fieldId: string) => ({ showIf: { fieldId, operator: 'eq', value: 'x' } as Filter })
    const odd = {
      fields: [line('name', 1, on('age')), line('age', 2, on('secret')), line('meal', 3, on('gone'))],
    }
    expect(visibleQuestions(odd, fields, {}).map(({ field }) => field.id)).toEqual(['name', 'age', 'meal'])
  })

  test('what the table requires needs an answer, unless its default stands', () => {
    const needed = field('code', 'SingleLineText', { required: true, defaultValue: 'A1' })
    const only = { fields: [line('code', 1)] }
    const problems = (values: object) =>
      checkAnswers({ view: only, fields: [needed], values: { ...values } }).problems.length
    expect([problems({}), problems({ code: null }), problems({ code: 'B' })]).toEqual([0, 1, 0])
  })

  test('options that are gone do not leave a question without any', () => {
    const meal = fields.find(({ id }) => id === 'meal') ?? field('meal', 'SingleSelect')
    const titles = (limitOptions: string[] | null) =>
      offeredChoices(meal, { limitOptions }).map(({ title }) => title)
    expect([titles(['Fish', 'Gone']), titles(['Gone']), titles(null)]).toEqual([
      ['Fish'],
      ['Meat', 'Fish', 'None'],
      ['Meat', 'Fish', 'None'],
    ])
  })
})

describe('what a form says of a field', () => {
  const problem = (fieldId: string, form: Partial<FormField>) => {
    const byId = new Map(fields.map((each) => [each.id, each]))
    const asked = byId.get(fieldId) ?? field(fieldId, 'Number')
    return formFieldProblem(asked, formField.parse(form), (id) => byId.get(id))
  }
  test('is refused where it makes no sense', () => {
    const rule = (rule: string, value: number | string) => ({ rules: [{ rule, value, message: null }] })
    const showIf = (fieldId: string, operator: string, value: string | number | null = null) => ({
      showIf: { fieldId, operator, value } as Filter,
    })
    expect(problem('age', rule('minLength', 2))).toBe('Field “age” has no rule “minLength”')
    expect(problem('name', rule('pattern', '(a+)+'))).toContain('has nested quantifiers')
    expect(problem('why', showIf('why', 'notblank'))).toContain('its own answer')
    expect(problem('why', showIf('sum', 'notblank'))).toContain('is not in the form')
    expect(problem('why', showIf('boss', 'eq', 'Ann'))).toContain('can only check whether field')
    expect(problem('why', showIf('age', 'anyof', 'x'))).toContain('is not supported')
    for (const good of [showIf('meal', 'eq', 'None'), showIf('team', 'gt', 0), showIf('gone', 'eq', 'x')]) {
      expect(problem('why', good)).toBeNull()
    }
  })
})

describe('the end of a form', () => {
  test('leads to addresses of the web only', () => {
    expect(redirectAddress('https://x.org/{record_id}?a=1', 'a/b')?.href).toBe('https://x.org/a%2Fb?a=1')
    for (const odd of [null, 'javascript:alert(1)', '//x.org', 'https://', 'ftp://x.org', ' https://x.org']) {
      expect(redirectAddress(odd, 1)).toBeNull()
    }
  })
})
