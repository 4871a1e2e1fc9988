import type { TestApp } from '../support/app.ts'

/** Resolves once somebody else asks for the write lease of a base, in any way. */
export async function asked({ kernel }: TestApp, baseId: string, ask: () => unknown): Promise<void> {
  const engine = await kernel.sources.engine(baseId)
  const { exclusively, write, writeTogether, writeScript } = engine
  await new Promise<void>((resolve, reject) => {
    const noting =
      <A extends unknown[], R>(call: (...args: A) => R) =>
      (...args: A): R => {
        resolve()
        return call(...args)
      }
    Object.assign(engine, {
      exclusively: noting(exclusively),
      write: noting(write),
      writeTogether: noting(writeTogether),
      writeScript: noting(writeScript),
    })
    Promise.resolve(ask()).catch(reject)
  })
  Object.assign(engine, { exclusively, write, writeTogether, writeScript })
}
