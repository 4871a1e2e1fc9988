import { describe, expect, test } from 'bun:test'
import {
  checkFormula,
  type FormulaField,
  formulaFunctions,
  formulaTokens,
  signatureAt,
  storedReferences,
  toShown,
  toStored,
} from '../../src/core/formula/index.ts'
import { parsedTree } from '../../src/wire/parsed-formula.ts'
import { seeded, textOf } from './random.ts'

const field = (id: string, title: string): FormulaField => ({
  id,
  title,
  type: 'Number',
  form: 'real',
  isComputed: false,
  isBroken: false,
})

describe('toStored and toShown', () => {
  test('turn titles into ids and back, and leave the rest as it is written', () => {
    const fields = [field('c1', 'Unit price'), field('c2', 'Qty')]
    const text = 'round( {Unit price}*{Qty} ,2 )&"{Qty}" + {Nope} - Qty'
    const stored = toStored(text, fields)
    expect(stored).toBe('round( {{c1}}*{{c2}} ,2 )&"{Qty}" + {Nope} - {{c2}}')
    expect(toShown(stored, fields)).toBe('round( {Unit price}*{Qty} ,2 )&"{Qty}" + {Nope} - {Qty}')
    expect(storedReferences(stored)).toEqual(['c1', 'c2'])
    expect(toShown(stored, [field('c1', 'Cost')])).toBe('round( {Cost}*{{c2}} ,2 )&"{Qty}" + {Nope} - {{c2}}')
  })

  test('bring any title through', () => {
    const random = seeded(8)
    for (let index = 0; index < 2000; index++) {
      const title = textOf(random, ['{', '}', '\\', '"', "'", ' ', 'a', 'é', '😀', '(', ','], 7)
      if (title === '') continue
      const fields = [field('cx', title)]
      const shown = toShown('1 + {{cx}} * 2', fields)
      expect([title, toStored(shown, fields)]).toEqual([title, '1 + {{cx}} * 2'])
      expect([title, checkFormula(shown, { fields, client: 'pg' }).ok]).toEqual([title, true])
    }
  })
})

describe('the editor', () => {
  test('colours text without losing any of it', () => {
    const random = seeded(9)
    for (let index = 0; index < 2000; index++) {
      const text = textOf(
        random,
        ['IF(', '{a', '}', '"', '\\', '1.5', '+', 'é', '\n', ')', "'", '{{', ','],
        12,
      )
      expect(
        formulaTokens(text)
          .map((token) => token.text)
          .join(''),
      ).toBe(text)
    }
    const kinds = formulaTokens('IF({A} >= 1.5, "x", true) # y').filter(({ kind }) => kind !== 'space')
    expect(kinds.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'function IF',
      'open (',
      'reference {A}',
      'operator >=',
      'number 1.5',
      'comma ,',
      'string "x"',
      'comma ,',
      'literal true',
      'close )',
      'unknown #',
      'name y',
    ])
  })

  test('knows in which argument of which function the cursor stands', () => {
    const text = 'IF(ROUND({A}, 2) > (1 + 2), "a, (b", '
    const at = (position: number) => {
      const found = signatureAt(text, position)
      return found && `${found.name} ${found.argument}`
    }
    expect(at(2)).toBeNull()
    expect(at(3)).toBe('IF 0')
    expect(at(9)).toBe('ROUND 0')
    expect(at(14)).toBe('ROUND 1')
    expect(at(17)).toBe('IF 0')
    expect(at(22)).toBe('IF 0')
    expect(at(text.length)).toBe('IF 2')
    expect(signatureAt('"', 1)).toBeNull()
  })

  test('says of every function how it is written, what it does and gives an example', () => {
    for (const { name, syntax, help, examples } of formulaFunctions('pg')) {
      expect(syntax.startsWith(`${name}(`)).toBe(true)
      expect([name, help.length > 5, examples.length > 0]).toEqual([name, true, true])
    }
  })
})

describe('parsedTree', () => {
  const fields = [field('c1', 'Price')]
  const tree = (text: string) => {
    const checked = checkFormula(text, { fields, client: 'pg' })
    if (!checked.ok) throw new Error(checked.problems[0]?.message)
    return parsedTree(checked, fields)
  }

  test('has the type of each node', () => {
    expect(tree('IF({Price} > 1, "a", ROUND(-1.50))')).toEqual({
      type: 'CallExpression',
      callee: { type: 'Identifier', name: 'IF' },
      dataType: 'conditional_expression',
      arguments: [
        {
          type: 'BinaryExpression',
          operator: '>',
          dataType: 'boolean',
          left: { type: 'Identifier', name: 'c1', raw: '{{c1}}', dataType: 'numeric' },
          right: { type: 'Literal', value: 1, raw: '1', dataType: 'numeric' },
        },
        { type: 'Literal', value: 'a', raw: '"a"', dataType: 'string' },
        {
          type: 'CallExpression',
          callee: { type: 'Identifier', name: 'ROUND' },
          dataType: 'numeric',
          arguments: [{ type: 'Literal', value: -1.5, raw: '-1.50', dataType: 'numeric' }],
        },
      ],
    })
  })

  test('says which field a formula is no more than', () => {
    expect(tree('{Price}')).toMatchObject({
      referencedColumn: { id: 'c1', uidt: 'Number' },
      uidtCandidates: ['Number'],
      invalidForReferenceColumn: false,
    })
  })
})
