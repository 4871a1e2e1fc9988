import {
  type DependencyList,
  type EffectCallback,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from 'react'

/**
 * Runs `react` after the first render and whenever a trigger changes, always with the latest props and state. May
 * return a cleanup function.
 */
export function useOnChange(triggers: DependencyList, react: EffectCallback): void {
  const run = useEffectEvent((_: DependencyList) => react())
  const current = useUnchanged(triggers)
  useEffect(() => run(current), [current])
}

/** As `useOnChange`, before the browser paints. */
export function useLayoutOnChange(triggers: DependencyList, react: EffectCallback): void {
  const run = useEffectEvent((_: DependencyList) => react())
  const current = useUnchanged(triggers)
  useLayoutEffect(() => run(current), [current])
}

/** Keeps the array's identity while its items are identical. */
function useUnchanged(items: DependencyList): DependencyList {
  const kept = useRef(items)
  if (items.some((item, at) => !Object.is(item, kept.current[at]))) kept.current = items
  return kept.current
}

/** A ref that is true while the component is mounted. */
export function useIsMounted(): RefObject<boolean> {
  const isMounted = useRef(true)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  return isMounted
}

/** Fits a text area's height to its text, up to `maxPx`; null leaves it unchanged. */
export function useTextHeight(
  area: RefObject<HTMLTextAreaElement | null>,
  text: string | null,
  maxPx = Number.POSITIVE_INFINITY,
  extraPx = 0,
): void {
  useLayoutOnChange([text, maxPx], () => {
    const element = area.current
    if (!element || text === null) return
    element.style.blockSize = 'auto'
    element.style.blockSize = `${Math.min(maxPx, element.scrollHeight + extraPx)}px`
  })
}
