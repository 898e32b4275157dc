// The bundler makes class names of these; it warns of a class that does not exist, and the build treats that as an error.
declare module '*.module.css';
declare module '*.css';
