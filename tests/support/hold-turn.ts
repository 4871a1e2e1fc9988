import type { Kernel } from '../../src/kernel.ts'

/** Begins a write to a base that has its turn until it is let go; others of the base wait for theirs. */
export async function holdTurn(kernel: Kernel, baseId: string): Promise<() => Promise<unknown>> {
  const running = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const engine = await kernel.sources.engine(baseId)
  const write = engine.writeScript(async () => {
    running.resolve()
    await gate.promise
    return []
  })
  await running.promise
  return () => {
    gate.resolve()
    return write
  }
}
