import { describe, expect, test } from 'bun:test'
import { createRegistry, defineSlot } from '../src/registry.ts'

const COUNT = defineSlot<(text: string) => number>('tests.count')

describe('the registry', () => {
  test('refuses to read a slot before it is filled, and names it', () => {
    expect(() => createRegistry().get(COUNT)).toThrow('The slot tests.count is not filled yet')
  })

  test('refuses to fill a slot twice, and keeps the first value', () => {
    const registry = createRegistry()
    registry.fill(COUNT, (text) => text.length)
    expect(() => registry.fill(COUNT, () => 0)).toThrow('The slot tests.count is already filled')
    expect(registry.get(COUNT)('four')).toBe(4)
  })

  test('tells slots apart by identity, not by name', () => {
    const registry = createRegistry()
    registry.fill(defineSlot<number>('tests.count'), 1)
    expect(() => registry.get(COUNT)).toThrow('not filled yet')
  })

  test('belongs to one server', () => {
    const registry = createRegistry()
    registry.fill(COUNT, () => 1)
    expect(() => createRegistry().get(COUNT)).toThrow('not filled yet')
  })
})
