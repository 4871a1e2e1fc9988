import { type ComponentPropsWithoutRef, createContext, useContext } from 'react'

const InsideMain = createContext(false)

/** The page's main landmark. Within the app's frame, which already has the landmark, it is a `div`. */
export function Main(props: ComponentPropsWithoutRef<'main'>) {
  const isInside = useContext(InsideMain)
  if (isInside) return <div {...props} />
  return (
    <InsideMain value>
      <main {...props} />
    </InsideMain>
  )
}
