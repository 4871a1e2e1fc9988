import { useLayoutEffect, useMemo, useRef } from 'preact/compat'

/*
 * Replaces `react` in bundles that use Preact instead (`PREACT` in `scripts/build-web.ts`).
 */
// @ts-expect-error: its types are declared with `export =`, which `export *` does not accept; the module has names.
export * from 'preact/compat'
export { default } from 'preact/compat'

type Effect = Parameters<typeof useLayoutEffect>[0]

/**
 * Runs an effect before refs are set and layout effects run, on which Ariakit's event handlers rely. Preact runs it
 * with the layout effects, too late for a handler that a ref calls. Here it runs while rendering, because Preact
 * commits every render.
 */
export function useInsertionEffect(effect: Effect, dependencies?: readonly unknown[]): void {
  const cleanUp = useRef<ReturnType<Effect>>(undefined)
  useMemo(
    () => {
      cleanUp.current?.()
      cleanUp.current = effect()
    },
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller lists them; without any, after every render
    dependencies ?? [{}],
  )
  useLayoutEffect(() => () => cleanUp.current?.(), [])
}
